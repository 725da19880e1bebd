import { expect } from 'vitest'
import { dollars, type Recorded, type Sums, sumsOf } from './bookkeeping.ts'

/** Address of the product APIs, and a key that may read tasks. */
export type Reader = { api_url: string; project_key: string }

/** Expects that the API's tasks and conversations of a run add up to its recorded calls. */
export async function expectRollUps(reader: Reader, recorded: Recorded): Promise<void> {
  const byTask = sumsOf(recorded, 'task_id')
  const byConversation = sumsOf(recorded, 'external_id')
  expect(await taskSums(reader, Object.keys(byTask))).toEqual(byTask)
  expect(await conversationSums(reader, Object.keys(byConversation))).toEqual(
    withoutCancelled(byConversation),
  )
}

type TaskItem = Omit<Sums, 'total_tokens'> & {
  task_id: string
  cancelled: number
  tokens: { total: number }
}

async function taskSums(reader: Reader, ids: readonly string[]) {
  const wanted = new Set(ids)
  const tasks = await allOf<TaskItem>(reader, 'tasks')
  return Object.fromEntries(
    tasks
      .filter((task) => wanted.has(task.task_id))
      .map(({ task_id, calls, errors, cancelled, tokens, cost_usd }) => [
        task_id,
        { calls, errors, cancelled, total_tokens: tokens.total, cost_usd: dollars([cost_usd]) },
      ]),
  )
}

async function conversationSums(reader: Reader, ids: readonly string[]) {
  const wanted = new Set(ids)
  const conversations = await allOf<Sums & { external_id: string }>(reader, 'conversations')
  return Object.fromEntries(
    conversations
      .filter(({ external_id }) => wanted.has(external_id))
      .map(({ external_id, calls, errors, total_tokens, cost_usd }) => [
        external_id,
        { calls, errors, total_tokens, cost_usd: dollars([cost_usd]) },
      ]),
  )
}

function withoutCancelled(sums: ReturnType<typeof sumsOf>): Record<string, Sums> {
  return Object.fromEntries(
    Object.entries(sums).map(([id, { cancelled: _, ...rest }]) => [id, rest]),
  )
}

const pages_max = 50

async function allOf<T>(reader: Reader, list: 'tasks' | 'conversations'): Promise<T[]> {
  const items: T[] = []
  let cursor = ''
  for (let page = 0; page < pages_max; page += 1) {
    const url = `${reader.api_url}/api/v1/${list}?limit=1000&sort=started_at${cursor}`
    const answer = await fetch(url, { headers: { 'x-api-key': reader.project_key } })
    if (answer.status !== 200) throw new Error(`${list}: ${await answer.text()}`)
    const body = (await answer.json()) as Record<string, unknown>
    items.push(...(body[list] as T[]))
    if (body['next_cursor'] === null) return items
    cursor = `&cursor=${body['next_cursor']}`
  }
  throw new Error(`${list}: more than ${pages_max} pages`)
}
