// A child that does not stop when it is asked to.
process.on("SIGTERM", () => console.log("not now"));
setInterval(() => {}, 1_000);
console.log("at work");
