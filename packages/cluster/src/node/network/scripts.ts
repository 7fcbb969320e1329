/** The shell scripts that build the network of the pods. Everything happens in namespaces of an ordinary user. */

/** The address of the router in the network of the pods. */
const gateway = "10.244.255.254";

/**
 * Builds the network that all pods of this process share, and becomes the router. All addresses of services are the router's own.
 * Arguments: the program of the router, its folder, and the path of Node.
 */
export const routerScript = `set -eu
ip link set lo up
ip link add pods type bridge
ip addr add ${gateway}/16 dev pods
ip link set pods up
ip route add local 10.96.0.0/12 dev lo
exec "$3" -e "$1" "$2"
`;

/**
 * Holds the network of one pod until it is killed. It writes "ready" when the pod can use it.
 * Arguments: the process of the router, the name of the pod's link in the network of the router, the address of the pod.
 */
export const podScript = `set -eu
ip link set lo up
ip link add eth0 type veth peer name "$2" netns "$1"
ip addr add "$3/16" dev eth0
ip link set eth0 up
ip route add default via ${gateway}
nsenter --target "$1" --net ip link set "$2" master pods up
echo ready
exec sleep infinity
`;

/** The name of a pod's link: 10.244.1.2 is pod1.2. It is at most 15 characters long. */
export const linkOf = (podIP: string) => `pod${podIP.split(".").slice(2).join(".")}`;
