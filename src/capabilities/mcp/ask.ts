/** A call of a route of the API, with the rights of the client that uses the tools. */
export type Ask = (call: AskedRoute) => Promise<AskReply>

export type AskedRoute = {
  method: 'GET' | 'POST'
  /** Path with its query. */
  path: string
  body?: unknown
}

/** Status and parsed body of the answer. */
type AskReply = { status: number; body: unknown }

/** A tool cannot answer. The message is for the model that called the tool. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

type Problem = { code?: string; detail?: string; title?: string }

/** Maximum characters of an error. Longer ones are cut. */
const fault_characters_max = 1_000

/** Calls a route and returns its body. Throws `ToolFault` with the error of the API. */
export async function askRoute(ask: Ask, call: AskedRoute): Promise<Readonly<Body>> {
  const { status, body } = await ask(call)
  if (status >= 200 && status < 300) return body as Body
  const { code = '', detail, title } = (body ?? {}) as Problem
  const said = [`${status} ${code}`.trim(), detail ?? title].filter((part) => part !== undefined)
  throw new ToolFault(said.join(': ').slice(0, fault_characters_max))
}

/** A body of the API: always an object. */
type Body = Record<string, unknown>

/** Appends the given values as the query of a path; undefined ones are left out. */
export function withQuery(path: string, values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
