import { useState } from 'react'
import type { TurnToolUse } from '../../../api/schema.gen.d.ts'
import { SelectField } from '../../../ui/fields.tsx'
import { Badge, classes } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { type Loop, turnsIn } from './group-turns.ts'
import { type Change, diffLines, diffWords, spreadJson } from './line-diff.ts'
import css from './turns.module.css'

/** Compares the tool calls and results of an iteration with those of an earlier one. */
export function AttemptsDiff({ loop }: { loop: Loop }) {
  const numbers = loop.iterations.map(({ number }) => number)
  const [first, setFirst] = useState(numbers[0] ?? 1)
  const [second, setSecond] = useState(numbers[1] ?? 2)
  const usesOf = (number: number) =>
    turnsIn(loop.iterations.find((each) => each.number === number)?.items ?? []).flatMap(
      ({ tool_uses }) => tool_uses,
    )
  const [before, after] = [usesOf(first), usesOf(second)]
  const options = numbers.map((number) => [String(number), `Iteration ${number}`] as const)
  const longest = Math.max(before.length, after.length)
  return (
    <div className={css.diff}>
      <div className={ui.row}>
        <SelectField
          label="Compare"
          options={options}
          value={String(second)}
          onChange={(event) => setSecond(Number(event.target.value))}
        />
        <SelectField
          label="with"
          options={options}
          value={String(first)}
          onChange={(event) => setFirst(Number(event.target.value))}
        />
      </div>
      {longest === 0 && <p className={ui.soft}>These iterations called no tool.</p>}
      {Array.from({ length: longest }, (_, at) => (
        <UseDiff
          key={before[at]?.index ?? `after ${after[at]?.index}`}
          before={before[at]}
          after={after[at]}
        />
      ))}
    </div>
  )
}

type Use = TurnToolUse | undefined

function UseDiff({ before, after }: { before: Use; after: Use }) {
  const name = after?.name ?? before?.name ?? ''
  return (
    <div className={css.useDiff}>
      <h4>
        <Plain>{name}</Plain>
        {before === undefined && ' (only in the later one)'}
        {after === undefined && ' (only in the earlier one)'}
      </h4>
      <TextDiff what="Arguments" before={before?.arguments?.text} after={after?.arguments?.text} />
      <TextDiff what="Result" before={before?.result?.text} after={after?.result?.text} />
    </div>
  )
}

function TextDiff({
  what,
  before = '',
  after = '',
}: {
  what: string
  before: string | undefined
  after: string | undefined
}) {
  if (before === after) {
    return (
      <p>
        {what} <Badge>the same</Badge>
      </p>
    )
  }
  const changes = diffLines(spreadJson(before), spreadJson(after))
  return (
    <div>
      <p>
        {what} <Badge tone="info">changed</Badge>
      </p>
      {changes === undefined ? (
        <p className={ui.soft}>The texts are too long to compare here.</p>
      ) : (
        <Changes of={changes} />
      )}
    </div>
  )
}

const context = 2

function Changes({ of: changes }: { of: readonly Change[] }) {
  const isNear = (at: number) =>
    changes.slice(Math.max(0, at - context), at + context + 1).some(({ kind }) => kind !== 'same')
  return (
    <div className={css.changes}>
      {numbered(changes).map(({ at, ...change }) => {
        if (!isNear(at)) return null
        const pair = partner(changes, at)
        return (
          <div key={at} className={classes(css.change, css[change.kind])}>
            <span className={css.sign}>{signs[change.kind]}</span>
            <span>
              {pair === undefined ? (
                <Plain>{change.text}</Plain>
              ) : (
                <Words of={change} pair={pair} />
              )}
            </span>
          </div>
        )
      })}
    </div>
  )
}

/** Names each part of a comparison by its position, which never changes. */
const numbered = (changes: readonly Change[]) => changes.map((change, at) => ({ ...change, at }))

const signs = { same: ' ', removed: '−', added: '+' } as const

/** Returns the neighbouring line that replaces this one, or that it replaces. */
function partner(changes: readonly Change[], at: number): string | undefined {
  const [before, here, after] = [changes[at - 1], changes[at], changes[at + 1]]
  if (here?.kind === 'removed' && after?.kind === 'added') return after.text
  return here?.kind === 'added' && before?.kind === 'removed' ? before.text : undefined
}

function Words({ of: { kind, text }, pair }: { of: Change; pair: string }) {
  const changes = kind === 'added' ? diffWords(pair, text) : diffWords(text, pair)
  if (changes === undefined) return <Plain>{text}</Plain>
  const own = changes.filter((change) => change.kind === 'same' || change.kind === kind)
  return (
    <>
      {numbered(own).map(({ at, ...change }) => (
        <span key={at} className={change.kind === 'same' ? undefined : css.word}>
          <Plain>{change.text}</Plain>
        </span>
      ))}
    </>
  )
}
