import type { Fault } from "./fault.ts";

/** What every election of the cluster needs. */
export const surroundingsFaults: readonly Fault[] = [
  {
    name: "The API server rejects the credentials",
    flaw: "wrong-token",
    check: "credentials",
    what: /./,
    fix: /^the token or certificate has expired or belongs to another cluster/,
  },
  {
    name: "The namespace does not exist",
    plant: (world) => {
      world.isEmpty = true;
      world.others = [];
    },
    namespace: "nowhere",
    check: "namespace",
    what: /^"nowhere" does not exist$/,
    fix: /^kubectl create namespace nowhere --kubeconfig /m,
  },
  {
    name: "The clock of this machine is wrong",
    flaw: "wrong-clock",
    check: "clock",
    what: /^this machine's clock is (59m\d+s|1h) ahead of that of the API server$/,
    fix: /NTP/,
  },
  {
    name: "The API server is too slow for the timings",
    flaw: "slow",
    flags: () => ["--renew-deadline", "1s"],
    check: "latency",
    what: /a read took [4-9]\d\d ms, longer than a quarter of renewDeadline 1s/,
    fix: /--preset low-load/,
  },
  {
    name: "A proxy holds watches back",
    flaw: "stalled-watch",
    check: "watch",
    what: /it connected, but reported nothing within 5s/,
    fix: /proxy or load balancer/,
  },
  {
    name: "A proxy cuts watches",
    flaw: "cut-watch",
    check: "watch",
    what: /./,
    fix: /proxy or load balancer/,
  },
];
