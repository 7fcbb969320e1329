import type { OperateFlags } from "../../cluster/session.ts";

export interface DoctorFlags extends OperateFlags {
  as?: string;
  preset?: string;
  renewDeadline?: string;
}
