// Command member owns buckets with the library of Knative, and prints what it owns to stdout as JSON lines.
//
// It is the counterpart of bench/shard-member.mjs: same flags, same lines.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

type options struct {
	kubeconfig, namespace, name, id string
	count                           uint
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig")
	flag.StringVar(&o.namespace, "namespace", "default", "namespace of the Leases")
	flag.StringVar(&o.name, "name", "", "name of the set")
	flag.StringVar(&o.id, "id", "", "identity")
	flag.UintVar(&o.count, "count", 1, "number of buckets")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o options) error {
	// The library reads the namespace of its Leases from here.
	if err := os.Setenv("SYSTEM_NAMESPACE", o.namespace); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	// The default of 5 requests a second would delay the elections of ten buckets.
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctx = logging.WithLogger(ctx, zap.NewNop().Sugar())
	ctx = leaderelection.WithStandardLeaderElectorBuilder(ctx, client, leaderelection.ComponentConfig{
		Component:     o.name,
		Identity:      o.id,
		Buckets:       uint32(o.count),
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
	})
	member := &reconciler.LeaderAwareFuncs{
		PromoteFunc: func(bucket reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
			return o.print("owned", bucket)
		},
		DemoteFunc: func(bucket reconciler.Bucket) { _ = o.print("dropped", bucket) },
	}
	elector, err := leaderelection.BuildElector(ctx, member, "shards", func(reconciler.Bucket, types.NamespacedName) {})
	if err != nil {
		return err
	}
	elector.Run(ctx)
	return nil
}

func (o options) print(event string, bucket reconciler.Bucket) error {
	// CLOCK_MONOTONIC: shared by all processes of this machine, and never set.
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return err
	}
	names := make([]string, o.count)
	for i := range names {
		names[i] = fmt.Sprintf("%s.shards.%02d-of-%02d", o.name, i, o.count)
	}
	line, err := json.Marshal(map[string]any{
		"event":  event,
		"monoMs": float64(now.Nano()) / 1e6,
		"id":     o.id,
		"shard":  slices.Index(names, bucket.Name()),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(line))
	return err
}
