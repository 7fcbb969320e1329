// Command candidate takes part in elections with client-go, and prints its events to stdout as JSON lines.
//
// It is the counterpart of bench/candidate.mjs: same flags, same lines. It uses client-go as its large users do
// (controller-runtime, kube-scheduler): a request times out after half of the renew deadline, the work stops before the
// context of the election is cancelled, and a candidate that loses competes again.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

type options struct {
	kubeconfig, namespace, name, id           string
	leaseDuration, renewDeadline, retryPeriod time.Duration
	releaseOnCancel                           bool
	count                                     int
	workEvery                                 time.Duration
	command                                   string
}

func main() {
	// Log only errors: a log line for each of a thousand elections would distort the measured cost.
	logging := flag.NewFlagSet("logging", flag.PanicOnError)
	klog.InitFlags(logging)
	_ = logging.Parse([]string{"--legacy_stderr_threshold_behavior=false", "--stderrthreshold=ERROR"})
	if err := run(parse()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse() options {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig")
	flag.StringVar(&o.namespace, "namespace", "default", "namespace of the Lease")
	flag.StringVar(&o.name, "name", "", "name of the Lease; with --count, the prefix of name-0, name-1, …")
	flag.StringVar(&o.id, "id", "", "identity")
	flag.DurationVar(&o.leaseDuration, "lease-duration", 15*time.Second, "")
	flag.DurationVar(&o.renewDeadline, "renew-deadline", 10*time.Second, "")
	flag.DurationVar(&o.retryPeriod, "retry-period", 2*time.Second, "")
	flag.BoolVar(&o.releaseOnCancel, "release-on-cancel", true, "release the Lease when told to stop")
	flag.IntVar(&o.count, "count", 1, "elections in this process, which share a client")
	flag.DurationVar(&o.workEvery, "work-every", 0, "how often to print a line while leading; 0: never")
	flag.StringVar(&o.command, "command", "", "shell command to run while leading; it gets SIGTERM and is waited for")
	flag.Parse()
	return o
}

func run(o options) error {
	if o.name == "" || o.id == "" || o.count < 1 {
		return errors.New("--name and --id are required, and --count must be at least 1")
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = "client-go leader-election"
	config.Timeout = max(time.Second, o.renewDeadline/2)
	// The default of 5 requests a second suits one election; many elections that share a client would starve.
	config.QPS = -1
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return err
	}

	workContext, stopWork := context.WithCancel(context.Background())
	electionContext, leave := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	candidates := make([]*candidate, 0, o.count)
	for i := range o.count {
		name := o.name
		if o.count > 1 {
			name = fmt.Sprintf("%s-%d", o.name, i)
		}
		candidates = append(candidates, &candidate{options: o, name: name, client: client, workContext: workContext})
	}
	go func() {
		<-signals
		// Stop the work first, then release the lease, as controller-runtime does.
		stopWork()
		for _, c := range candidates {
			c.work.Wait()
		}
		leave()
	}()

	var elections sync.WaitGroup
	for _, c := range candidates {
		elections.Go(func() { c.run(electionContext) })
	}
	elections.Wait()
	return nil
}

type candidate struct {
	options
	name        string
	client      coordinationv1.LeasesGetter
	workContext context.Context
	work        sync.WaitGroup
}

// run competes until the context ends; client-go's Run returns after one term.
func (c *candidate) run(ctx context.Context) {
	for ctx.Err() == nil {
		var hasLed atomic.Bool
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Name: c.name,
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: c.namespace, Name: c.name},
				Client:     c.client,
				LockConfig: resourcelock.ResourceLockConfig{Identity: c.id},
			},
			LeaseDuration:   c.leaseDuration,
			RenewDeadline:   c.renewDeadline,
			RetryPeriod:     c.retryPeriod,
			ReleaseOnCancel: c.releaseOnCancel,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					hasLed.Store(true)
					c.say(line{Event: "started-leading"})
					c.work.Add(1)
					defer c.work.Done()
					c.doWork(ctx)
					c.say(line{Event: "work-stopped"})
				},
				OnStoppedLeading: func() {
					// client-go also calls this if the candidate never led.
					if hasLed.Load() {
						c.say(line{Event: "stopped-leading"})
					}
				},
				OnNewLeader: func(leader string) { c.say(line{Event: "new-leader", Leader: &leader}) },
			},
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		elector.Run(ctx)
	}
}

// doWork returns when the election or a signal tells it to stop.
func (c *candidate) doWork(ctx context.Context) {
	if c.command != "" {
		c.runCommand(ctx)
		return
	}
	var ticks <-chan time.Time
	if c.workEvery > 0 {
		ticker := time.NewTicker(c.workEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.workContext.Done():
			return
		case <-ticks:
			c.say(line{Event: "worked"})
		}
	}
}

func (c *candidate) runCommand(ctx context.Context) {
	child := exec.Command("sh", "-c", c.command)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	exited := make(chan struct{})
	go func() {
		select {
		case <-exited:
			return
		case <-ctx.Done():
		case <-c.workContext.Done():
		}
		_ = child.Process.Signal(syscall.SIGTERM)
	}()
	_ = child.Wait()
	close(exited)
}

type line struct {
	Event string `json:"event"`
	// Milliseconds of CLOCK_MONOTONIC: shared by all processes of this machine, and never set.
	MonoMs   float64 `json:"monoMs"`
	Time     string  `json:"time"`
	ID       string  `json:"id"`
	Election string  `json:"election"`
	Leader   *string `json:"leader,omitempty"`
}

var stdout sync.Mutex

func (c *candidate) say(l line) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	l.MonoMs = float64(now.Nano()) / 1e6
	l.Time = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	l.ID, l.Election = c.id, c.name
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	stdout.Lock()
	defer stdout.Unlock()
	// The benchmark that reads this output has ended.
	if _, err := os.Stdout.Write(append(text, '\n')); err != nil {
		os.Exit(1)
	}
}
