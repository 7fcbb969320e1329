/** Rules for addresses and ports of endpoints. Each returns its problems, in the wording of Kubernetes. */
import { BlockList, isIP } from "node:net";
import { type FieldError, field } from "./status.ts";

function range(...subnets: [string, number, "ipv4" | "ipv6"][]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) list.addSubnet(...subnet);
  return list;
}

const loopback = range(["127.0.0.0", 8, "ipv4"], ["::1", 128, "ipv6"]);
const linkLocal = range(["169.254.0.0", 16, "ipv4"], ["fe80::", 10, "ipv6"]);
const linkLocalMulticast = range(["224.0.0.0", 24, "ipv4"], ["ff02::", 16, "ipv6"]);

/** Traffic to an endpoint leaves the machine, so addresses that mean this machine or this link make no sense. */
export function validateEndpointAddress(path: string, address: string): FieldError[] {
  const version = isIP(address);
  if (version === 0) return [];
  const family = version === 4 ? "ipv4" : "ipv6";
  const problems: string[] = [];
  if (address === "0.0.0.0" || address === "::") problems.push(`may not be unspecified (${address})`);
  if (loopback.check(address, family))
    problems.push("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (linkLocal.check(address, family))
    problems.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (linkLocalMulticast.check(address, family))
    problems.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  return problems.map((why) => field.invalid(path, address, why));
}

export function validateAddress(path: string, address: string): FieldError[] {
  const why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  return isIP(address) === 0 ? [field.invalid(path, address, why)] : [];
}

export function validatePortNumber(path: string, port: unknown): FieldError[] {
  const number = Number(port ?? 0);
  const why = "must be between 1 and 65535, inclusive";
  return number >= 1 && number <= 65535 ? [] : [field.invalid(path, number, why)];
}

const protocols = ["SCTP", "TCP", "UDP"];

export function validateProtocol(path: string, protocol: unknown): FieldError[] {
  return protocols.includes(String(protocol)) ? [] : [field.notSupported(path, protocol, protocols)];
}
