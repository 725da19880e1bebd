import type { TaskTimeline } from '../../api/schema.gen.d.ts'

/** A model call that arrived, and how it went. */
export type ArrivedCall = {
  time: string
  provider: string
  model: string
  isError: boolean
  status_code: number
  /** The error of the provider; empty for a call that was answered. */
  message: string
  total_tokens: number
}

type Entry = TaskTimeline['entries'][number]

/**
 * Returns the call of a timeline that shows that a client is connected: the first one that began at
 * `since` or later and was answered, else the first one that failed.
 */
export function findArrival(entries: readonly Entry[], since: string): ArrivedCall | undefined {
  const from_ms = Date.parse(since)
  const arrived = entries
    .filter((entry) => entry.role === 'model_call')
    .filter(({ time }) => Date.parse(time) >= from_ms)
    .map(({ time, provider, model, status, status_code, error, tokens }) => ({
      time,
      provider,
      model,
      status_code,
      total_tokens: tokens.total,
      isError: status === 'error',
      message: [error?.type, error?.message].filter(Boolean).join(': '),
    }))
  return arrived.find(({ isError }) => !isError) ?? arrived[0]
}

/** A page of the model calls of a task, in the order in which they began. */
type Page = Pick<TaskTimeline, 'entries' | 'next_cursor'>

/** Pages of a timeline that one look reads; a page has 1,000 calls. */
const pages_max = 20

/**
 * Finds the call that shows that a client is connected, in all pages of a task's calls. `starts` keeps the
 * cursor behind the calls that began earlier: the next look begins there.
 */
export async function findArrivalOf(
  task_id: string,
  { since, starts }: { since: string; starts: Map<string, string> },
  readPage: (cursor: string | undefined) => Promise<Page>,
): Promise<ArrivedCall | undefined> {
  let failed: ArrivedCall | undefined
  let cursor = starts.get(task_id)
  for (let page = 0; page < pages_max; page++) {
    const { entries, next_cursor } = await readPage(cursor)
    const found = findArrival(entries, since)
    if (found?.isError === false) return found
    failed ??= found
    if (next_cursor === null) break
    if (failed === undefined) starts.set(task_id, next_cursor)
    cursor = next_cursor
  }
  return failed
}

/** Says what an error status of the provider means for the person who set the client up. */
export function reasonFor(status_code: number): string {
  if (status_code === 401 || status_code === 403) {
    return 'Looptrace took your project key; the provider refused its own. Set the key of the provider in the client as before, such as OPENAI_API_KEY.'
  }
  if (status_code === 404) {
    return 'The provider knows no such model or path. Check the name of the model.'
  }
  if (status_code === 429) return 'The provider limits your calls, or has no credit left.'
  return 'The client is connected. The error is in the task.'
}

/** Returns the clients whose names contain all words of a text. */
export function filterClients<T extends { name: string; title: string; calls: string }>(
  clients: readonly T[],
  text: string,
): T[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return clients.filter(({ name, title, calls }) => {
    const about = `${name} ${title} ${calls}`.toLowerCase()
    return words.every((word) => about.includes(word))
  })
}

/** Returns the lines with a key in them. `lines` have `<key>` where it goes. */
export function fillKey(lines: readonly string[], key: string): string {
  return lines.map((line) => line.replaceAll('<key>', () => key)).join('\n')
}
