import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** Only root may make a network, and not in every container. */
const mayIsolate = spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0

const program = fileURLToPath(new URL('../support/offline-process.ts', import.meta.url))

test.runIf(mayIsolate)(
  'without a route to any other machine, the service starts, works, and asks for none',
  async () => {
    const script = 'ip link set lo up; exec "$@"'
    const command = ['sh', '-ec', script, 'sh', process.execPath, program]
    const { stdout } = await run('unshare', ['--net', ...command], { timeout: 280_000 })
    const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(seen).toEqual({ call: 200, task: 'offline', page: 200, without_route: 0 })
  },
  300_000,
)

/** The counter of the test above counts: a send without a route is seen. */
test.runIf(mayIsolate)('a send without a route is counted', async () => {
  const dial = `require('node:net').connect(80, '192.0.2.1').on('error', () => {
    const [names, values] = require('node:fs').readFileSync('/proc/net/snmp', 'utf8')
      .split('\\n').filter((line) => line.startsWith('Ip:')).map((line) => line.split(' '))
    console.log(values[names.indexOf('OutNoRoutes')])
  })`
  const { stdout } = await run('unshare', ['--net', process.execPath, '-e', dial])
  expect(Number(stdout)).toBeGreaterThan(0)
})
