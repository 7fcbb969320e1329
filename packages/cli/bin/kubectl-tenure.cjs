#!/usr/bin/env node
// `kubectl tenure …` is `tenure …`: kubectl runs what is called kubectl-tenure on the PATH.
require("../bundle/tenure.cjs");
