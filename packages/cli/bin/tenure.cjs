#!/usr/bin/env node
// npm links a command while it installs, which is before the build: what it links must be there already.
require("./compiled-code.cjs");
require("../bundle/tenure.cjs");
