// Loads bundle/run.cjs with the code that V8 compiled from it when the package was built, which takes a fifth off the time until
// the child runs. scripts/compile-code.mjs makes the file. It fits one version of V8: without a file for it, Node compiles as usual.
const { readFileSync } = require("node:fs");
const Module = require("node:module");
const { dirname, join } = require("node:path");
const { Script } = require("node:vm");

const file = join(__dirname, "../bundle/run.cjs");
const loadAsUsual = Module._extensions[".js"];

Module._extensions[".cjs"] = (module, name) => {
  const script = name === file ? compiled() : undefined;
  if (script === undefined) return loadAsUsual(module, name);
  const run = script.runInThisContext();
  run.call(module.exports, module.exports, module.require.bind(module), module, name, dirname(name));
};

function compiled() {
  const stored = read(join(dirname(file), `run-${process.versions.v8}-${process.arch}.compiled`));
  if (stored === undefined) return undefined;
  const text = readFileSync(file);
  // First the code, then the text that it was compiled from. V8 itself compares only the length of the text.
  const codeLength = stored.length - text.length;
  if (codeLength < 0 || !text.equals(stored.subarray(codeLength))) return undefined;
  return new Script(Module.wrap(text.toString("utf8")), {
    filename: file,
    columnOffset: -Module.wrapper[0].length,
    // V8 ignores damaged code and compiles the text.
    cachedData: stored.subarray(0, codeLength),
  });
}

function read(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
