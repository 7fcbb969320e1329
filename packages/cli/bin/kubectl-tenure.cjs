#!/usr/bin/env node
// `kubectl tenure …` is `tenure …`: kubectl runs what is called kubectl-tenure on the PATH.
require("./compiled-code.cjs");
require("../bundle/tenure.cjs");
