const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  throw new Error(`the tests need Node ≥ 24.12, this is ${process.version}: run npm test, or node_modules/.bin/node`);
}
