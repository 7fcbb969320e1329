// A child that ignores SIGTERM.
process.on("SIGTERM", () => console.log("ignoring SIGTERM"));
setInterval(() => {}, 1_000);
console.log("at work");
