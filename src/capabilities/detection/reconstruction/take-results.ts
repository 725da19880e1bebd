import { hash } from 'node:crypto'
import type { Observation, ToolResult } from '../../../model/observation.ts'
import { bounds, type RunState } from './run-state.ts'
import { addOrphan, type BroughtResult, isAskedWith, joinResult } from './tool-uses.ts'

/**
 * Takes the results that a call without a history brought. Clients send results again: with a
 * retry, and with each later call when they send the whole history. An id alone does not tell old
 * results from new ones: some providers give none, some agents begin their count again. So results
 * are counted by (id, content), and a call brings as many new ones as it has more than any before.
 * Where tool calls under an id still wait, the last results under that id are their answers.
 */
export function takeResults(state: RunState, thread: number, row: Observation): void {
  const results = row.tool_results
  if (results.length === 0) return
  const fresh = newOnes(state, results)
  for (const [id, indexes] of Map.groupBy(results.keys(), (at) => results[at]?.tool_call_id)) {
    takeFromEnd(indexes, fresh, waitingFor(state, thread, id ?? ''))
  }
  const is_hidden = row.content_state === 'dropped' || row.content_state === 'expired'
  for (const [at, { tool_call_id, content: text }] of results.entries()) {
    if (!fresh.has(at)) continue
    const tool_name = nameOf(state, thread, tool_call_id)
    const told: BroughtResult = { tool_call_id, tool_name, text, is_error: undefined, is_hidden }
    const isAsked = joinResult(state, told, { thread, row, is_quiet: true })
    if (!isAsked) addOrphan(state, told, { thread, row })
  }
}

/** Returns the indexes of the results that are here more often than in any call before. */
function newOnes(state: RunState, results: readonly ToolResult[]): Set<number> {
  const { brought, left_out } = state
  const here = new Map<string, number>()
  const fresh = new Set<number>()
  for (const [index, result] of results.entries()) {
    const key = keyOf(result)
    const times = (here.get(key) ?? 0) + 1
    here.set(key, times)
    const known = brought.get(key)
    if (times <= (known ?? 0)) continue
    if (known === undefined && brought.size >= bounds.brought_max) {
      left_out.add(`results of calls without a history beyond ${bounds.brought_max}`)
      continue
    }
    brought.set(key, times)
    fresh.add(index)
  }
  return fresh
}

/** Adds indexes, the last ones first, until the set has as many of them as are wanted. */
function takeFromEnd(indexes: readonly number[], fresh: Set<number>, wanted: number): void {
  let lacking = wanted - indexes.filter((index) => fresh.has(index)).length
  for (const index of indexes.toReversed()) {
    if (lacking <= 0) return
    if (fresh.has(index)) continue
    fresh.add(index)
    lacking -= 1
  }
}

/** Counts the tool calls of the latest answer that asked under the id and that wait. */
function waitingFor(state: RunState, thread: number, id: string): number {
  const isWaiting = (index: number) => {
    const use = state.tools[index]
    return use?.thread === thread && !use.is_answered
  }
  const uses = state.usesById.get(id)
  if (uses !== undefined) {
    const latest = state.tools[uses.at(-1) ?? -1]
    if (latest === undefined) return 0
    const first = uses.findLastIndex((index) => !isAskedWith(state, index, latest)) + 1
    return uses.slice(first).filter(isWaiting).length
  }
  return namedInOpen(state, thread, id).length
}

/** The old function calls have no id: their results come under the name of the function. */
function nameOf(state: RunState, thread: number, id: string): string {
  if (id === '' || state.usesById.has(id)) return ''
  return namedInOpen(state, thread, id).length > 0 || state.ranWithoutId.has(id) ? id : ''
}

function namedInOpen(state: RunState, thread: number, name: string): number[] {
  const open = state.lines[thread]?.open ?? []
  return open.filter((index) => {
    const use = state.tools[index]
    return use?.tool_call_id === '' && use.name === name
  })
}

/** Longer ones are compared by digest, so that they need not be kept. */
const keyLength_max = 64

function keyOf({ tool_call_id, content }: ToolResult): string {
  const key = `${tool_call_id}\n${content}`
  return key.length > keyLength_max ? hash('sha256', key, 'base64') : key
}
