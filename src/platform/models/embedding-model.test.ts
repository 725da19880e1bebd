import { expect, test } from 'vitest'
import { replyJson, serveModel } from '../../../test/support/model-server.ts'
import { openEmbeddingModel } from './embedding-model.ts'
import { ModelFailed } from './model.ts'

const texts = ['one text', 'another']

async function embedded(reply: unknown, status = 200) {
  await using server = await serveModel((response) => replyJson(response, reply, status))
  const model = openEmbeddingModel(
    {
      ...{ name: 'vectors', type: 'embeddings', url: server.url, model: 'e-1' },
      ...{ timeout_ms: 2_000, cents_per_million_input: 2 },
    },
    server.outbound,
  )
  const result = await model.embed(texts, new AbortController().signal).catch((error) => error)
  return { result, seen: server.seen, model }
}

test('vectors come in the order of the texts, with their cost', async () => {
  const { result, seen, model } = await embedded({
    data: [
      { index: 1, embedding: [0, 1] },
      { index: 0, embedding: [1, 0] },
    ],
    usage: { prompt_tokens: 4 },
  })
  expect(result).toEqual({
    vectors: [
      [1, 0],
      [0, 1],
    ],
    ...{ input_tokens: 4, nano_dollars: 80n },
  })
  expect(seen).toMatchObject([{ path: '/v1/embeddings', body: { model: 'e-1', input: texts } }])
  expect(model.estimate(texts)).toBeGreaterThanOrEqual(80n)
})

const vector = (index: number, embedding: unknown) => ({ index, embedding })

test.each([
  ['an error', { error: {} }, 401],
  ['too few vectors', { data: [vector(0, [1])] }, 200],
  ['one index twice', { data: [vector(0, [1]), vector(0, [1])] }, 200],
  ['vectors of different lengths', { data: [vector(0, [1]), vector(1, [1, 2])] }, 200],
  ['an empty vector', { data: [vector(0, []), vector(1, [])] }, 200],
  ['a vector of words', { data: [vector(0, ['a']), vector(1, ['b'])] }, 200],
  ['too long vectors', { data: [0, 1].map((at) => vector(at, Array(5_000).fill(1))) }, 200],
])('%s fails', async (_what, reply, status) => {
  expect((await embedded(reply, status)).result).toBeInstanceOf(ModelFailed)
})
