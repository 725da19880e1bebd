import { readFile } from 'node:fs/promises'

/** A call of a guide, and the answer that the guide shows. */
export type GuideCall = { heading: string; path: string; body: unknown; answer: unknown }

/**
 * The calls of a guide: `http` blocks with method, path and body, each with the next `json` block
 * as its answer.
 */
export async function callsOfGuide(file: string): Promise<GuideCall[]> {
  const text = await readFile(file, 'utf8')
  const calls: GuideCall[] = []
  let heading = ''
  const parts = /^#{2,3} (.+)$|^```http\nPOST (\S+)\n\n([\s\S]*?)^```$|^```json\n([\s\S]*?)^```$/gm
  for (const [, title, path, body, answer] of text.matchAll(parts)) {
    const last = calls.at(-1)
    if (title !== undefined) heading = title
    else if (path !== undefined) {
      calls.push({ heading, path, body: JSON.parse(body ?? ''), answer: undefined })
    } else if (last !== undefined) last.answer ??= JSON.parse(answer ?? '')
  }
  return calls
}
