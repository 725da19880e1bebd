import type { BadAnswer } from './errors.ts'
import type { WatchEvent } from './kube-client.ts'
import { toKubeObject } from './kube-client.ts'

/** etcd refuses objects of more than 1.5 MiB; JSON may escape each byte of a string into six. */
const line_characters_max = 16 * 1024 * 1024

/** An ERROR event, with which the server ends a watch. */
export class WatchError extends Error {
  override readonly name = 'WatchError'
  readonly answer: BadAnswer

  constructor(answer: BadAnswer) {
    super(answer.message)
    this.answer = answer
  }
}

/**
 * Parses the events of a watch: one JSON object per line. An unfinished line at the end of the
 * stream is dropped, because the next watch resumes from the version before it.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export async function* watchEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<WatchEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > line_characters_max) {
      throw new WatchError({
        status: 500,
        message: `a line of over ${line_characters_max} characters`,
      })
    }
    for (const line of lines) {
      const event = parseEvent(line)
      if (event !== undefined) yield event
    }
  }
}

function parseEvent(line: string): WatchEvent | undefined {
  if (line.trim() === '') return undefined
  const { type, object } = JSON.parse(line)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'changed', object: toKubeObject(object) }
    case 'DELETED':
      return { type: 'deleted', object: toKubeObject(object) }
    case 'BOOKMARK':
      return { type: 'bookmark', resource_version: object.metadata.resourceVersion }
    case 'ERROR':
      throw new WatchError({
        status: object?.code ?? 500,
        message: object?.message ?? 'the server ended the watch',
        retry_after: object?.details?.retryAfterSeconds?.toString(),
      })
    default:
      return undefined
  }
}
