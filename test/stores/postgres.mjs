// @ts-check
/**
 * Real PostgreSQL servers on the loopback interface: a primary, a streaming standby, and PgBouncer in front of them. The role
 * "admin" needs no password; the role "candidate" has the password "secret" and only the rights that the schema grants.
 */
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { schemaSql } from "../../packages/postgres/dist/index.js";
import { findExecutable, folders } from "../kube/assets.mjs";
import { freePorts } from "../kube/ports.mjs";
import { newServers } from "./servers.mjs";

const run = promisify(execFile);

/**
 * @typedef {object} PostgresServer
 * @property {number} port
 * @property {string} url of the administrator
 * @property {string} candidateUrl of a role with the least rights
 * @property {(sql: string, values?: unknown[]) => Promise<Record<string, any>[]>} sql runs as the administrator
 * @property {(signal?: NodeJS.Signals) => Promise<void>} stop by default a fast shutdown
 * @property {() => Promise<void>} start
 * @property {() => number} pid of the postmaster
 *
 * @typedef {object} PostgresCluster
 * @property {PostgresServer} primary
 * @property {(settings?: Record<string, string>) => Promise<PostgresServer & { promote(): Promise<void> }>} addStandby
 *   a synchronous one: from now on every commit waits for it
 * @property {(server: PostgresServer) => Promise<string>} addBouncer in transaction mode; returns a URL
 * @property {() => Promise<void>} stop
 */

/** @param {{ withSchema?: boolean }} [options] @returns {Promise<PostgresCluster>} */
export async function startPostgres({ withSchema = true } = {}) {
  const bin = await findPrograms();
  const owner = await postgresUser();
  const servers = await newServers(owner);
  /** Runs a program as the user postgres, because PostgreSQL refuses to run as root. @param {string} program @param {string[]} args @returns {[string, string[]]} */
  const asOwner = (program, args) =>
    owner
      ? [
          "setpriv",
          [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups", join(bin, program), ...args],
        ]
      : [join(bin, program), args];
  /** @param {string} program @param {string[]} args */
  const runProgram = async (program, args) => {
    const [command, all] = asOwner(program, args);
    // In a folder that the user postgres may enter.
    await run(command, all, { cwd: servers.folder });
  };

  /** @param {string} name @param {string} data @returns {Promise<PostgresServer>} */
  async function startServer(name, data) {
    const [port = 0] = await freePorts(1);
    const url = `postgres://admin@127.0.0.1:${port}/app`;
    /** @type {import("../kube/process.mjs").ServerProcess | undefined} */
    let process;
    const server = {
      port,
      url,
      candidateUrl: `postgres://candidate:secret@127.0.0.1:${port}/app`,
      sql: /** @param {string} text @param {unknown[]} [values] */ (text, values) => query(url, text, values),
      pid: () => process?.pid ?? 0,
      async start() {
        const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories="];
        const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
        const [command, all] = asOwner("postgres", args);
        const probe = () => query(`${url.slice(0, -4)}/postgres`, "SELECT 1").then(() => true);
        process = await servers.run({ name, command, args: all, probe });
      },
      /** @param {NodeJS.Signals} [signal] */
      async stop(signal = "SIGINT") {
        await process?.end(signal);
      },
    };
    await server.start();
    return server;
  }

  try {
    const data = join(servers.folder, "primary");
    await runProgram("initdb", ["-D", data, "-U", "admin", "-A", "trust", "--no-sync", "--no-locale"]);
    await writeFile(
      join(data, "pg_hba.conf"),
      "host all candidate 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n" +
        "host replication all 127.0.0.1/32 trust\n",
    );
    await writeFile(join(data, "postgresql.auto.conf"), "fsync = off\nwal_level = replica\n");
    const primary = await startServer("primary", data);
    const postgresUrl = `${primary.url.slice(0, -4)}/postgres`;
    await query(postgresUrl, "CREATE DATABASE app");
    await query(postgresUrl, "CREATE ROLE candidate LOGIN PASSWORD 'secret'");
    if (withSchema) await query(primary.url, schemaSql("tenure_locks", "candidate"));

    return {
      primary,
      async addStandby(settings = {}) {
        const folder = join(servers.folder, "standby");
        const conninfo = `host=127.0.0.1 port=${primary.port} user=admin application_name=standby`;
        await runProgram("pg_basebackup", ["-D", folder, "-R", "-X", "stream", "-c", "fast", "-d", conninfo]);
        const standby = await startServer("standby", folder);
        for (const [name, value] of Object.entries({ synchronous_standby_names: "standby", ...settings })) {
          await primary.sql(`ALTER SYSTEM SET ${name} = '${value}'`);
        }
        await primary.sql("SELECT pg_reload_conf()");
        return {
          ...standby,
          // It has no standby of its own.
          async promote() {
            await standby.sql("ALTER SYSTEM RESET synchronous_standby_names");
            await standby.sql("SELECT pg_promote(true, 30)");
          },
        };
      },
      async addBouncer(server) {
        const [port = 0] = await freePorts(1);
        const folder = join(servers.folder, "bouncer");
        await mkdir(folder);
        const users = join(folder, "users.txt");
        await writeFile(users, '"admin" ""\n"candidate" "secret"\n');
        const config = join(folder, "pgbouncer.ini");
        await writeFile(
          config,
          `[databases]\napp = host=127.0.0.1 port=${server.port} dbname=app\n[pgbouncer]\nlisten_addr = 127.0.0.1\n` +
            `listen_port = ${port}\nunix_socket_dir =\nauth_type = plain\nauth_file = ${users}\npool_mode = transaction\n` +
            `max_client_conn = 100\ndefault_pool_size = 5\n`,
        );
        for (const path of [folder, users, config]) {
          await chmod(path, 0o755);
          if (owner) await chown(path, owner.uid, owner.gid);
        }
        const program = await findExecutable("pgbouncer", [...folders(process.env), "/usr/sbin"]);
        if (!program)
          throw new Error("Cannot find pgbouncer: install it, on Debian with apt-get install pgbouncer");
        const [command, args] = owner
          ? ["setpriv", [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups", program, config]]
          : [program, [config]];
        const url = `postgres://candidate:secret@127.0.0.1:${port}/app`;
        const probe = () => query(url, "SELECT 1").then(() => true);
        await servers.run({ name: "pgbouncer", command: command ?? "", args: args ?? [], probe });
        return url;
      },
      stop: () => servers.stop(),
    };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

/** @param {string} url @param {string} text @param {unknown[]} [values] */
async function query(url, text, values) {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    const result = await client.query(text, values);
    return Array.isArray(result) ? [] : result.rows;
  } finally {
    await client.end();
  }
}

/** The folder of PostgreSQL. Debian does not put it into PATH, and has one for each version. */
async function findPrograms() {
  const root = "/usr/lib/postgresql";
  const versions = (await readdir(root).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  const candidates = [...versions.map((version) => join(root, version, "bin")), ...folders(process.env)];
  const found = await findExecutable("pg_basebackup", candidates);
  if (found) return dirname(found);
  throw new Error("Cannot find PostgreSQL: install it, on Debian with apt-get install postgresql");
}

/** The user as which PostgreSQL must run; undefined if that is this user. */
async function postgresUser() {
  if (process.getuid?.() !== 0) return undefined;
  const id = async (/** @type {string} */ flag) => Number((await run("id", [flag, "postgres"])).stdout);
  return { uid: await id("-u"), gid: await id("-g") };
}
