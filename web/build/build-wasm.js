// npm run build: compiles src/ into web/headwise/wasm/ (and the benchmark's ceiling into
// web/page/bench/wasm/) with Emscripten, and writes the JavaScript of web/build/generated.js.
//   --check          builds into a temporary folder and compares byte by byte with what is committed
//   --names FOLDER   builds into FOLDER, with the names of functions (npm run bytes reads them)
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { abiRows } from './abi.js';
import { parse, runScript, UsageError } from './command-line.js';
import { checkGenerated, writeGenerated } from './generated.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Where modules are committed, by the CMake variable that says where they are written. */
const WASM_DIRS = {
  HEADWISE_WASM_DIR: join('web', 'headwise', 'wasm'),
  HEADWISE_BENCH_WASM_DIR: join('web', 'page', 'bench', 'wasm'),
};
const PINNED = '3.1.69';
const OLDEST = [3, 1, 60];
const OLDEST_CMAKE = [3, 21];

/**
 * @typedef {object} Emscripten
 * @property {string} dir the folder of emcc
 * @property {string} from where it was found, in words
 * @property {NodeJS.ProcessEnv} env
 */

class BuildError extends Error {}

/** @param {string} name */
function onPath(name) {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.bat`, name] : [name];
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    for (const file of names) if (dir && existsSync(join(dir, file))) return join(dir, file);
  }
  return null;
}

/**
 * The folder that holds emcc's CMake files: emcc's own, unless emcc is a link or wrapper elsewhere.
 * @param {string} emcc
 */
function emscriptenRoot(emcc) {
  const dir = dirname(emcc);
  if (existsSync(toolchainFile(dir))) return dir;
  const result = spawnSync(join(dir, 'em-config'), ['EMSCRIPTEN_ROOT'], { encoding: 'utf8' });
  const root = result.status === 0 ? result.stdout.trim() : '';
  return root && existsSync(toolchainFile(root)) ? root : null;
}

/** @param {string} dir */
const toolchainFile = (dir) => join(dir, 'cmake', 'Modules', 'Platform', 'Emscripten.cmake');

/** @param {string} text */
function versionIn(text) {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  return found ? found.slice(1).map(Number) : null;
}

/** @param {number[]} version @param {number[]} least */
function atLeast(version, least) {
  for (let i = 0; i < least.length; i++) {
    if (version[i] !== least[i]) return version[i] > least[i];
  }
  return true;
}

/** The Python behind a version manager's shim, which takes longer than emcc for a small file. */
function python() {
  const result = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** @returns {Emscripten[]} */
function candidates() {
  /** @type {Emscripten[]} */
  const found = [];
  // emcc must run the Node that runs this script: the pinned prefix may name one that is gone.
  const env = {
    ...process.env,
    EM_NODE_JS: process.execPath,
    EMSDK_PYTHON: process.env.EMSDK_PYTHON ?? python(),
  };
  if (process.env.EMSDK) {
    const dir = join(process.env.EMSDK, 'upstream', 'emscripten');
    if (existsSync(toolchainFile(dir))) found.push({ dir, from: 'EMSDK', env });
  }
  const emcc = onPath('emcc');
  const root = emcc && emscriptenRoot(emcc);
  if (root) found.push({ dir: root, from: 'PATH', env });

  const prefix =
    process.env.HEADWISE_TOOLCHAIN ?? join(homedir(), '.cache', 'headwise', `emscripten-${PINNED}`);
  const dir = join(prefix, 'usr', 'share', 'emscripten');
  const config = join(prefix, 'emscripten.config');
  if (existsSync(toolchainFile(dir)) && existsSync(config)) {
    found.push({ dir, from: '.ci/toolchain', env: { ...env, EM_CONFIG: config } });
  }
  return found;
}

/**
 * The first that is recent enough; what is missing otherwise.
 * @param {boolean} preferPinned
 * @returns {Emscripten}
 */
function findEmscripten(preferPinned) {
  const refused = [];
  const found = candidates();
  for (const candidate of preferPinned ? found.reverse() : found) {
    const emcc = join(candidate.dir, process.platform === 'win32' ? 'emcc.bat' : 'emcc');
    const result = spawnSync(emcc, ['--version'], {
      encoding: 'utf8',
      env: candidate.env,
      shell: process.platform === 'win32',
    });
    const version = result.status === 0 ? versionIn(result.stdout) : null;
    if (version && atLeast(version, OLDEST)) {
      console.log(`Emscripten ${version.join('.')} (${candidate.from})`);
      return candidate;
    }
    const reason = version ? `is ${version.join('.')}` : 'does not run';
    refused.push(`  ${emcc} (${candidate.from}) ${reason}`);
  }
  throw new BuildError(
    [
      `Emscripten ${OLDEST.join('.')} or later is needed to compile the C engine.`,
      ...(refused.length ? ['Found, but not suitable:', ...refused] : ['None was found.']),
      'To get it: the Emscripten SDK (then source emsdk_env.sh), "brew install emscripten",',
      `"apt install emscripten" on Debian 13 or later, or on Debian 12 .ci/toolchain (${PINNED}).`,
      'The compiled modules are committed: only a change of the C sources needs this.',
    ].join('\n'),
  );
}

/** @returns {string} the CMake generator */
function checkTools() {
  const missing = [];
  const probe = spawnSync('cmake', ['--version'], { encoding: 'utf8' });
  const version = probe.status === 0 ? versionIn(probe.stdout) : null;
  if (!version) missing.push(`CMake ${OLDEST_CMAKE.join('.')} or later (package cmake)`);
  else if (!atLeast(version, OLDEST_CMAKE)) {
    missing.push(`CMake ${OLDEST_CMAKE.join('.')} or later (this is ${version.join('.')})`);
  }
  const generator = onPath('ninja') ? 'Ninja' : onPath('make') ? 'Unix Makefiles' : null;
  if (!generator) missing.push('Ninja or make (package ninja-build or make)');
  if (missing.length || !generator) throw new BuildError(`Missing: ${missing.join('; ')}.`);
  return generator;
}

/** @param {string[]} args @param {NodeJS.ProcessEnv} env */
function cmake(args, env) {
  const result = spawnSync('cmake', args, { cwd: ROOT, env, encoding: 'utf8' });
  if (result.status !== 0) {
    throw new BuildError(`cmake ${args.join(' ')} failed\n${result.stdout}${result.stderr}`);
  }
}

/**
 * emcc starts Python for each file, which takes longer than to compile it: this writes a script that starts the compiler as
 * emcc does, with its flags.
 *
 * @param {Emscripten} emscripten
 * @param {string} buildDir
 * @returns {string[]} the argument of CMake that says so; none where emcc does not show what it starts
 */
function compilerLauncher({ dir, env }, buildDir) {
  if (process.platform === 'win32') return [];
  const [source, object] = [join(buildDir, 'empty.c'), join(buildDir, 'empty.o')];
  writeFileSync(source, '');
  const args = ['-v', '-c', source, '-o', object];
  const { stderr } = spawnSync(join(dir, 'emcc'), args, { encoding: 'utf8', env });
  const command = /^ *(\S*clang\S* -target wasm32\S* .*) -v -c /m.exec(stderr ?? '')?.[1];
  if (!command) return [];
  const launcher = join(buildDir, 'compile');
  writeFileSync(launcher, `#!/bin/sh\nshift # emcc\nexec ${command} "$@"\n`, { mode: 0o755 });
  return [`-DCMAKE_C_COMPILER_LAUNCHER=${launcher}`];
}

/**
 * @param {string} buildDir
 * @param {string} outRoot the folder below which WASM_DIRS are filled
 * @param {{ preferPinned?: boolean, names?: boolean }} [options]
 */
function build(buildDir, outRoot, { preferPinned = false, names = false } = {}) {
  const generator = checkTools();
  const emscripten = findEmscripten(preferPinned);
  const env = { ...emscripten.env, HEADWISE_EMSCRIPTEN: emscripten.dir };
  // Afresh: a cache of another Emscripten or generator would be kept silently.
  rmSync(buildDir, { recursive: true, force: true });
  mkdirSync(buildDir, { recursive: true });
  writeFileSync(join(buildDir, 'abi_rows.inc'), abiRows(ROOT));
  const outs = Object.entries(WASM_DIRS).map(([name, dir]) => `-D${name}=${join(outRoot, dir)}`);
  if (names) outs.push('-DHEADWISE_NAMES=ON');
  const launcher = compilerLauncher(emscripten, buildDir);
  cmake(['--preset', 'wasm', '-B', buildDir, '-G', generator, ...outs, ...launcher], env);
  cmake(['--build', buildDir, '--parallel', '4'], env);
}

/**
 * @param {string} root
 * @returns {string[]} the modules below it, as paths relative to it
 */
const artefacts = (root) =>
  Object.values(WASM_DIRS)
    .filter((dir) => existsSync(join(root, dir)))
    .flatMap((dir) => readdirSync(join(root, dir)).map((name) => join(dir, name)))
    .filter((path) => path.endsWith('.wasm'))
    .sort();

/** @param {string} root */
function report(root) {
  for (const path of artefacts(root)) {
    const bytes = readFileSync(join(root, path));
    const gzip = gzipSync(bytes, { level: 9 }).length;
    console.log(`${basename(path).padEnd(24)} ${bytes.length} bytes, ${gzip} gzipped`);
  }
}

/** @returns {boolean} whether the committed modules and files are what the sources give */
function check() {
  const temporary = mkdtempSync(join(tmpdir(), 'headwise-'));
  try {
    build(join(temporary, 'build'), temporary, { preferPinned: true });
    report(temporary);
    const paths = [...new Set([...artefacts(ROOT), ...artefacts(temporary)])].sort();
    const differing = paths.filter((path) => {
      const [committed, built] = [join(ROOT, path), join(temporary, path)];
      if (!existsSync(committed) || !existsSync(built)) return true;
      return !readFileSync(committed).equals(readFileSync(built));
    });
    const files = checkGenerated(ROOT, temporary, join(temporary, 'build'));
    const wrong = [...differing, ...files.differing];
    for (const path of wrong) console.error(`differs from its sources: ${path}`);
    if (wrong.length) {
      console.error(`Run npm run build with Emscripten ${PINNED} (.ci/toolchain) and commit.`);
    } else {
      const count = `${paths.length} modules and ${files.count} files`;
      console.log(`${count} are byte for byte what the sources give.`);
    }
    return paths.length > 0 && wrong.length === 0;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

const USAGE = 'usage: npm run build [-- --check | --names FOLDER]';

/** @param {string[]} args */
async function main(args) {
  const { check: checks, names } = parse({
    args,
    options: { check: { type: 'boolean' }, names: { type: 'string' } },
  }).values;
  if (names === '' || (names !== undefined && checks))
    throw new UsageError('--names needs a folder, and does not go with --check');
  if (checks) {
    if (!check()) process.exitCode = 1;
  } else if (names !== undefined) {
    const folder = resolve(names);
    build(join(folder, 'build'), folder, { names: true });
  } else {
    build(join(ROOT, 'build', 'wasm'), ROOT);
    writeGenerated(ROOT, join(ROOT, 'build', 'wasm'));
    report(ROOT);
  }
}

await runScript(main, USAGE, (error) => error instanceof BuildError);
