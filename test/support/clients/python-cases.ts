import { expect } from 'vitest'

/** A case of client_checks.py: a part of its result, and its task afterwards. */
export type PythonCase = {
  name: string
  shows: object
  task?: { calls?: number; errors?: number; cancelled?: number }
}

const said = { choices: [{ message: { content: 'Parcel 7 left Zürich at noon. 📦' } }] }
const chunks = expect.arrayContaining([
  expect.objectContaining({ object: 'chat.completion.chunk' }),
])
const broken = { chunks, error: expect.objectContaining({ message: expect.any(String) }) }
const kinds = expect.arrayContaining(['chunk', 'content.delta', 'content.done'])
const failed = { errors: 1 }

/** All cases of client_checks.py. */
export const pythonCases: readonly PythonCase[] = [
  { name: 'answer', shows: said },
  { name: 'zipped answer', shows: { choices: [{ message: { content: 'Small on the wire.' } }] } },
  { name: 'refusal', shows: { choices: [{ message: { refusal: 'No.' } }] } },
  { name: 'several choices', shows: { choices: [{ index: 0 }, { index: 1 }] } },
  { name: 'tools', shows: { choices: [{ finish_reason: 'tool_calls' }] } },
  { name: 'tool loop', shows: { choices: [{ finish_reason: 'stop' }] }, task: { calls: 2 } },
  { name: 'stream', shows: { chunks } },
  { name: 'stream with usage', shows: { chunks } },
  { name: 'long stream', shows: { chunks } },
  { name: 'stream of several choices', shows: { chunks } },
  { name: 'stream of tools', shows: { chunks } },
  { name: 'stream helper', shows: { kinds } },
  { name: 'streaming response', shows: { status: 200 } },
  { name: 'left stream', shows: { chunks: [{}, {}, {}] }, task: { cancelled: 1 } },
  { name: 'error event', shows: broken, task: failed },
  { name: 'error data', shows: broken, task: failed },
  { name: 'error chunk', shows: broken, task: failed },
  { name: 'cut stream', shows: broken, task: failed },
  { name: 'legacy', shows: { object: 'text_completion', choices: [{ index: 0 }, { index: 1 }] } },
  { name: 'legacy stream', shows: { chunks: expect.any(Array) } },
  { name: 'status 400', shows: { error: { class: 'BadRequestError' } }, task: failed },
  { name: 'status 401', shows: { error: { class: 'AuthenticationError' } }, task: failed },
  { name: 'status 404', shows: { error: { class: 'NotFoundError' } }, task: failed },
  { name: 'status 429', shows: { error: { class: 'RateLimitError' } }, task: failed },
  { name: 'status 500', shows: { error: { class: 'InternalServerError' } }, task: failed },
  { name: 'status 503', shows: { error: { class: 'InternalServerError' } }, task: failed },
  { name: 'time-out', shows: { error: { class: 'APITimeoutError' } }, task: { cancelled: 1 } },
  { name: 'async answers', shows: [{}, {}, {}], task: { calls: 3 } },
  { name: 'async stream', shows: chunks },
  { name: 'async stream helper', shows: { kinds: expect.arrayContaining(['chunk']) } },
]
