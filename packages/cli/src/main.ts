#!/usr/bin/env node
import { systemPlatform } from "./platform.ts";
import { run } from "./run.ts";

systemPlatform.exit(await run(systemPlatform));
