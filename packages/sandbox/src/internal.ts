/** For the other packages of tenure. Not part of the public API: it can change in any release. */

export { newAuthority, newServerCertificate } from "./access/certificate.ts";
export { adminPath } from "./control/admin.ts";
export { systemPlatform } from "./platform.ts";
