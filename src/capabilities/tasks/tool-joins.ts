import { hash } from 'node:crypto'
import type { ToolResult } from '../../model/observation.ts'

/** Where a tool call or its result was seen. */
export type Sighting = { observation_id: string; trace_id: string; time: bigint }

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
  /** A tool ran and was over at `at`; the tool call it answers, where one waits for it. */
  ran(tool: { tool_call_id: string; tool_name: string }, at: Sighting): AskedTool | undefined
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
 *
 * A tool that ran on an observation of its own is told by that one: the message that brings its
 * result to a model later, in whatever shape, is no second result. It answers the tool call with
 * its id; where either has none, the latest call of its trace that asked for its name.
 */
export function createToolJoins(): ToolJoins {
  const seen = new Map<string, number>()
  const open: Groups = new Map()
  const openByName: Groups = new Map()
  const ran = new Map<string, number>()
  return {
    answered(results, at) {
      const fresh = newOnes(results, seen)
      for (const [id, indexes] of Map.groupBy(results.keys(), (i) => results[i]?.tool_call_id)) {
        takeFromEnd(indexes, latestWaiting(open, id ?? '').length, fresh)
      }
      return results
        .filter((_result, index) => fresh.has(index))
        .flatMap((result) => {
          const asked = latestWaiting(open, result.tool_call_id)[0]
          if (asked === undefined && takeOne(ran, result.tool_call_id)) return []
          if (asked !== undefined) asked.result = at
          return [{ result, asked }]
        })
    },
    asked(tools) {
      addGroups(open, Map.groupBy(tools, idOf))
      addGroups(openByName, Map.groupBy(tools, nameInTrace))
    },
    ran(tool, at) {
      const ofName = latestWaiting(openByName, nameInTrace({ ...tool, ...at }))
      const asked =
        tool.tool_call_id === ''
          ? ofName[0]
          : (latestWaiting(open, tool.tool_call_id)[0] ?? ofName.find(hasNoId))
      if (asked !== undefined) asked.result = at
      const id = tool.tool_call_id || asked?.tool_call_id
      for (const told of id ? [id] : ['', tool.tool_name]) ran.set(told, (ran.get(told) ?? 0) + 1)
      return asked
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

function hasNoId({ tool_call_id }: AskedTool): boolean {
  return tool_call_id === ''
}

function nameInTrace({ trace_id, tool_name }: { trace_id: string; tool_name: string }): string {
  return `${trace_id} ${tool_name}`
}

/** Longer contents are told apart by their digest, so that they needn't be held. */
const contentLength_max = 256

function keyOf({ tool_call_id, content }: ToolResult): string {
  const told = content.length > contentLength_max ? hash('sha256', content, 'base64') : content
  return `${tool_call_id}\n${told}`
}

/** Tool calls by id or name: the groups that were asked for together, the latest last. */
type Groups = Map<string, AskedTool[][]>

function addGroups(to: Groups, groups: ReadonlyMap<string, AskedTool[]>): void {
  for (const [key, group] of groups) {
    const waiting = to.get(key)
    if (waiting === undefined) to.set(key, [group])
    else waiting.push(group)
  }
}

/** Those without an answer in the latest group that has some; later groups are forgotten. */
function latestWaiting(groups: Groups, key: string): AskedTool[] {
  const waiting = groups.get(key)
  for (let group = waiting?.at(-1); group !== undefined; group = waiting?.at(-1)) {
    const unanswered = group.filter(({ result }) => result === undefined)
    if (unanswered.length > 0) return unanswered
    waiting?.pop()
  }
  groups.delete(key)
  return []
}

function takeOne(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count > 0) counts.set(key, count - 1)
  return count > 0
}
