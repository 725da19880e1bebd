import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cliCommands } from '../../src/cli/commands.ts'
import { commandOf, runCommand } from '../../src/cli/run-command.ts'

const bodies: unknown[] = []
const server = createServer((request, response) => {
  void json(request).then((body) => {
    bodies.push(body)
    response.writeHead(400, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ code: 'invalid_request', detail: 'enough', status: 400 }))
  })
})
const before = { ...process.env }
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  process.env['LOOPTRACE_URL'] = `http://127.0.0.1:${port}`
  process.env['LOOPTRACE_API_KEY'] = 'lt_test'
})
afterAll(() => {
  server.close()
  for (const name of ['LOOPTRACE_URL', 'LOOPTRACE_API_KEY']) {
    if (before[name] === undefined) delete process.env[name]
    else process.env[name] = before[name]
  }
})

async function certify(...options: string[]) {
  let err = ''
  const found = commandOf(cliCommands, ['certify', '--release', 'agent@1.0.0', ...options])
  if (found === undefined) throw new Error('no command')
  const status = await runCommand(found.command, found.args, {
    ...{ out: () => undefined, styled: (_style: unknown, text: string) => text },
    ...{ columns: () => undefined, time_zone: 'UTC' },
    err: (text) => {
      err += text
    },
    ...{ stdin: async () => '', now_ms: () => Date.now(), stop: new AbortController().signal },
  })
  return { status, err }
}

describe('looptrace certify asks for', () => {
  const asked: [string[], string | null][] = [
    [['--environment', 'staging'], 'staging'],
    [['--no-environment'], null],
  ]
  test.each(asked)('%j: %j', async (options, environment) => {
    bodies.length = 0
    await certify(...options)
    expect(bodies).toMatchObject([{ environment, release: { name: 'agent' } }])
  })

  test.each([[[]], [['--environment', 'staging', '--no-environment']]])(
    'nothing with %j',
    async (options) => {
      bodies.length = 0
      const { status, err } = await certify(...options)
      expect([status, bodies]).toEqual([3, []])
      expect(err).toContain('either --environment with a name, or --no-environment')
    },
  )
})
