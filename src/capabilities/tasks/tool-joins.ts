import { hash } from 'node:crypto'
import type { ToolResult } from '../../model/observation.ts'

/** Where a tool call or its result was seen. */
type Sighting = { observation_id: string; trace_id: string; time: bigint }

/** A tool call, and where its result came from as soon as that is known. */
export type AskedTool = Sighting & {
  tool_call_id: string
  tool_name: string
  /** What the model wrote, cut to what a timeline shows. */
  arguments: { text: string; is_cut: boolean }
  result: Sighting | undefined
}

export type ToolJoins = {
  /** The results a call brought that no call before it did, each with the tool call it answers. */
  answered(
    results: readonly ToolResult[],
    at: Sighting,
  ): { result: ToolResult; asked: AskedTool | undefined }[]
  /** A call asked for tools, in this order. */
  asked(tools: readonly AskedTool[]): void
}

/**
 * Joins tool calls and results of one task. Calls are told in the order of their starts.
 *
 * Clients send results again: with a retry, and with every later call when the whole history is
 * kept. Ids alone don't tell old from new: some providers give none, some agents begin their count
 * anew. So results are counted by (id, content), and a call brings as many new ones as it has more
 * than any before; and where tools that were asked for under an id still lack answers, the last
 * results under that id are the answers. A result answers the latest call that asked under its id
 * and has no answer, in the order asked. So each tool call is joined at most once.
 */
export function createToolJoins(): ToolJoins {
  const seen = new Map<string, number>()
  const open = new Map<string, AskedTool[][]>()
  return {
    answered(results, at) {
      const fresh = newOnes(results, seen)
      for (const [id, indexes] of Map.groupBy(results.keys(), (i) => results[i]?.tool_call_id)) {
        const lacking = open.get(id ?? '')?.at(-1)?.length ?? 0
        takeFromEnd(indexes, lacking, fresh)
      }
      return results
        .filter((_result, index) => fresh.has(index))
        .map((result) => {
          const asked = takeLatest(open, result.tool_call_id)
          if (asked !== undefined) asked.result = at
          return { result, asked }
        })
    },
    asked(tools) {
      for (const [id, group] of Map.groupBy(tools, idOf)) {
        const waiting = open.get(id)
        if (waiting === undefined) open.set(id, [group])
        else waiting.push(group)
      }
    },
  }
}

/** Indexes of the results that stand here more often than in any call before. */
function newOnes(results: readonly ToolResult[], seen: Map<string, number>): Set<number> {
  const here = new Map<string, number>()
  const fresh = new Set<number>()
  for (const [index, result] of results.entries()) {
    const key = keyOf(result)
    const times = (here.get(key) ?? 0) + 1
    here.set(key, times)
    if (times <= (seen.get(key) ?? 0)) continue
    seen.set(key, times)
    fresh.add(index)
  }
  return fresh
}

/** Adds indexes, the last ones first, until so many of them are in the set. */
function takeFromEnd(indexes: readonly number[], wanted: number, fresh: Set<number>): void {
  let lacking = wanted - indexes.filter((index) => fresh.has(index)).length
  for (const index of indexes.toReversed()) {
    if (lacking <= 0) return
    if (fresh.has(index)) continue
    fresh.add(index)
    lacking -= 1
  }
}

/** The old function calls have no id: their results come under the function's name. */
function idOf({ tool_call_id, tool_name }: AskedTool): string {
  return tool_call_id === '' ? tool_name : tool_call_id
}

/** Longer contents are told apart by their digest, so that they needn't be held. */
const contentLength_max = 256

function keyOf({ tool_call_id, content }: ToolResult): string {
  const told = content.length > contentLength_max ? hash('sha256', content, 'base64') : content
  return `${tool_call_id}\n${told}`
}

function takeLatest(open: Map<string, AskedTool[][]>, id: string): AskedTool | undefined {
  const waiting = open.get(id)
  const group = waiting?.at(-1)
  const asked = group?.shift()
  if (group?.length === 0) waiting?.pop()
  if (waiting?.length === 0) open.delete(id)
  return asked
}
