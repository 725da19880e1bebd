import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome']
const packages = ['chromium', 'fonts-dejavu-core']
const install = `apt-get install -y --no-install-recommends ${packages.join(' ')}`
const installTimeoutMs = 240_000

/** Why a test of pages was skipped, and what to do. */
export const noChromium = `no Chromium; install it with "${install}", or set TEST_CHROMIUM to its path`

/** Starts Chromium without a window; undefined on a machine without it. */
export async function openChromium(): Promise<Browser | undefined> {
  const executablePath = await chromiumPath()
  if (executablePath === undefined) return undefined
  // A page in a container cannot use the sandbox under root, and /dev/shm is small there.
  return chromium.launch({ executablePath, args: ['--disable-dev-shm-usage'] })
}

/**
 * Returns the path of Chromium: TEST_CHROMIUM, else the first one on the PATH. With
 * TEST_INSTALL=1, as CI sets it, root installs a missing one from the packages of Debian.
 */
export async function chromiumPath(): Promise<string | undefined> {
  const given = process.env['TEST_CHROMIUM']
  if (given !== undefined) return given
  const found = await findOnPath()
  if (found !== undefined || !mayInstall()) return found
  await installOnce().catch(() => undefined)
  return findOnPath()
}

function mayInstall(): boolean {
  return process.env['TEST_INSTALL'] === '1' && process.getuid?.() === 0
}

async function findOnPath(): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of names) {
      const path = join(folder, name)
      const isProgram = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isProgram) return path
    }
  }
  return undefined
}

/** Processes install one after another; the second one finds it installed. */
async function installOnce(): Promise<void> {
  const quick = '-o Acquire::Retries=1 -o Acquire::http::Timeout=15'
  const script = `command -v chromium || { apt-get ${quick} update && ${install} ${quick}; }`
  await promisify(execFile)('flock', ['/tmp/looptrace-chromium.lock', 'sh', '-c', script], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: installTimeoutMs,
    maxBuffer: 16 * 1024 * 1024,
  })
}
