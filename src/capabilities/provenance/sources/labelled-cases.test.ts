import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { SeenText } from '../values/index.ts'
import { type CheckedValue, checkAnswer } from './check-answer.ts'
import { indexSeen } from './seen/seen-index.ts'

/** Cases that others labelled; they stay outside of the repository. */
const file = '../shared/fixtures/provenance/cases.json'

type Message = {
  role: string
  content: string | { text?: string }[] | null
  tool_calls?: { function: { arguments: string } }[]
}
type Expected = { value: string; status: string; at: [number, number]; accept?: string[] }
type Case = {
  id: string
  title: string
  messages: Message[]
  expect: Expected[]
  flags: string[]
  meta?: unknown
}

const cases: Case[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).cases : []

/** Verdicts that agree with a label; a value that is not read is ignored. */
const verdicts: Readonly<Record<string, readonly string[]>> = {
  supported: ['seen', 'derived'],
  derived: ['derived', 'seen'],
  ignored: ['exempt', 'none'],
  unsupported: ['unsupported', 'other_subject'],
  not_checked: ['not_checked'],
}

test.skipIf(cases.length === 0).each(cases)('$id: $title', (one) => {
  const { answer, checked } = checkCase(one)
  for (const { at, status, accept = [] } of one.expect) {
    const found = checked.filter((value) => overlaps(value.at, at)).map(({ verdict }) => verdict)
    const wanted = [status, ...accept].flatMap((label) => verdicts[label] ?? [])
    expect(
      wanted.some((verdict) => (found.length === 0 ? ['none'] : found).includes(verdict as never)),
    ).toBe(true)
  }
  const listed = checked.filter(({ verdict }) => /^(?:unsupported|other_subject)$/.test(verdict))
  for (const flag of one.flags) {
    const start = answer.indexOf(flag)
    expect(listed.some(({ at }) => overlaps(at, [start, start + flag.length]))).toBe(true)
  }
})

function checkCase({ messages, meta }: Case): { answer: string; checked: CheckedValue[] } {
  const seen = messages.slice(0, -1).flatMap((message, at): SeenText[] => {
    if (message.role !== 'assistant')
      return [{ source: String(at), text: textOf(message), complete: meta === undefined }]
    const calls = message.tool_calls ?? []
    return calls.map((call) => ({ source: `${at}`, text: call.function.arguments, isOwn: true }))
  })
  const answer = textOf(messages.at(-1))
  return { answer, checked: checkAnswer(answer, indexSeen(seen)) }
}

function textOf(message: Message | undefined): string {
  const { content = null } = message ?? {}
  return typeof content === 'string'
    ? content
    : (content ?? []).map(({ text }) => text ?? '').join('')
}

function overlaps(one: readonly [number, number], other: readonly [number, number]): boolean {
  return one[0] < other[1] && other[0] < one[1]
}
