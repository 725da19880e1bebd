import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openNliModel, readScores } from '../../src/platform/models/nli-model.ts'
import { openOutbound, parseAllowedNetwork } from '../../src/platform/outbound/index.ts'

const folder = join(import.meta.dirname, '../../examples/models')

/** The example server with a scorer in place of a model: equal texts are entailed, “fail” throws. */
const program = `
import sys
sys.path.insert(0, sys.argv[1])
from nli_server import make_server, read_labels

class Stub:
    labels = read_labels({0: "CONTRADICTION", 1: "neutral", 2: "Entailment"})
    def score(self, pairs):
        if any(claim == "fail" for _, claim in pairs):
            raise RuntimeError("no memory")
        return [[0.02, 0.03, 0.95] if known == claim else [0.9, 0.08, 0.02] for known, claim in pairs]

server = make_server(Stub(), name="stub", output_format=sys.argv[2], host="127.0.0.1", port=0, token=sys.argv[3])
print(server.server_port, flush=True)
server.serve_forever()
`

type Format = 'nli' | 'grounding'

class ExampleServer {
  readonly url: string
  readonly #port: number
  readonly #child: ChildProcess

  private constructor(port: number, child: ChildProcess) {
    this.url = `http://127.0.0.1:${port}/`
    this.#port = port
    this.#child = child
  }

  static async start(format: Format, token = ''): Promise<ExampleServer> {
    const child = spawn('python3', ['-c', program, folder, format, token], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    const [line] = await once(createInterface(child.stdout), 'line')
    return new ExampleServer(Number(line), child)
  }

  async score(format: Format, claim: string, texts: readonly string[], api_key?: string) {
    const settings = {
      name: 'example',
      type: 'nli-http' as const,
      url: this.url,
      format,
      timeout_ms: 20_000,
      cents_per_million_input: 0,
      ...(api_key !== undefined && { api_key }),
    }
    const outbound = openOutbound({ allowed: [parseAllowedNetwork(`127.0.0.1/32:${this.#port}`)] })
    const call = openNliModel(settings, outbound).score({ claim, texts })
    const { reply } = await call.send(new AbortController().signal)
    return readScores(reply, texts.length)
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill()
    await ended
  }
}

describe('the example server of nli-http', () => {
  let nli: ExampleServer
  let grounding: ExampleServer
  beforeAll(async () => {
    nli = await ExampleServer.start('nli')
    grounding = await ExampleServer.start('grounding', 'secret')
  })
  afterAll(async () => {
    await nli.stop()
    await grounding.stop()
  })

  test('scores pairs by the model’s own names of labels', async () => {
    expect(await nli.score('nli', 'A costs 20.', ['A costs 20.', 'A costs 30.'])).toEqual([
      { entailment: 0.95, contradiction: 0.02 },
      { entailment: 0.02, contradiction: 0.9 },
    ])
  })

  test('gives the probability of grounding, with its token', async () => {
    const texts = ['A costs 20.', 'A costs 30.']
    expect(await grounding.score('grounding', 'A costs 20.', texts, 'secret')).toEqual([
      { entailment: 0.95, contradiction: 0 },
      { entailment: 0.02, contradiction: 0 },
    ])
    for (const token of [undefined, 'other'])
      await expect(grounding.score('grounding', 'A costs 20.', texts, token)).rejects.toThrow('401')
  })

  test('answers 60 pairs, and goes on after a model that failed', async () => {
    const texts = Array.from({ length: 60 }, (_, at) => `text ${at}`)
    expect(await nli.score('nli', 'text 7', texts)).toHaveLength(60)
    await expect(nli.score('nli', 'fail', ['a'])).rejects.toThrow('500')
    expect(await nli.score('nli', 'a', ['a'])).toHaveLength(1)
  })

  test('says that it is healthy, and what it serves', async () => {
    const response = await fetch(`${nli.url}health`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      ...{ status: 'ok', model: 'stub', format: 'nli' },
      labels: ['contradiction', 'neutral', 'entailment'],
    })
    expect((await fetch(`${nli.url}other`)).status).toBe(404)
  })

  const pair = { premise: 'a', hypothesis: 'b' }
  test.each([
    ['no JSON', '{', 400, 'not JSON'],
    ['no list', '{}', 400, 'list of at most 60 pairs'],
    ['too many pairs', JSON.stringify(Array(61).fill(pair)), 400, 'list of at most 60 pairs'],
    ['another field', '[{"document":"a","claim":"b"}]', 400, '`premise` and `hypothesis`'],
    ['no text', '[{"premise":1,"hypothesis":"b"}]', 400, '`premise` and `hypothesis`'],
    ['a long text', JSON.stringify([{ ...pair, premise: 'x'.repeat(4_001) }]), 400, '4000'],
    ['a long body', `[${' '.repeat(1_100_000)}]`, 413, '1048576 bytes'],
  ])('refuses %s', async (_what, body, status, message) => {
    const response = await fetch(nli.url, { method: 'POST', body })
    expect(response.status).toBe(status)
    expect(await response.json()).toEqual({ error: expect.stringContaining(message) })
  })

  test('an empty list is no work', async () => {
    const response = await fetch(nli.url, { method: 'POST', body: '[]' })
    expect(await response.json()).toEqual([])
  })
})
