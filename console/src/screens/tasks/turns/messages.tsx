import { useMemo } from 'react'
import type { Turn, TurnMessage } from '../../../api/schema.gen.d.ts'
import { formatCount, formatNumberOf } from '../../../ui/format.ts'
import { Badge, Button } from '../../../ui/parts.tsx'
import { LongText, Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { beginning, Content } from './content.tsx'
import { Fold } from './fold.tsx'
import { earlierThan } from './group-turns.ts'
import css from './turns.module.css'
import { useTurnView } from './view.ts'

const earlier_max = 200

/** The messages of a call: the earlier ones as a number, and the new ones. */
export function Messages({ turn }: { turn: Turn }) {
  const { isTalkOnly } = useTurnView()
  const { messages, messages_left_out, history } = turn
  const shown = messages
    .map((message, at) => ({ message, name: `s${turn.turn}-${at}` }))
    // The result of a tool is shown with its call.
    .filter(({ message }) => message.tool_use === null)
    .filter(({ message }) => !isTalkOnly || isTalk(message))
  return (
    <>
      {!isTalkOnly && <HistoryBreak of={history} />}
      {!isTalkOnly && <EarlierMessages turn={turn} />}
      {shown.map(({ message, name }) => (
        <Message key={name} message={message} name={name} thread={turn.thread} />
      ))}
      {messages_left_out > 0 && (
        <p className={ui.soft}>{formatCount(messages_left_out)} more new messages are not shown.</p>
      )}
    </>
  )
}

/** Returns whether a person wrote the message. */
export function isTalk({ role, from_harness, tool_use }: TurnMessage): boolean {
  return role === 'user' && !from_harness && tool_use === null
}

function HistoryBreak({ of: { break: broken } }: { of: Turn['history'] }) {
  if (broken === null) return null
  const { kind, lost_messages } = broken
  return (
    <p>
      <Badge tone="warn">history {kind}</Badge> {formatCount(lost_messages)} earlier messages are
      missing from here on.
    </p>
  )
}

function EarlierMessages({ turn }: { turn: Turn }) {
  const { earlier_messages, sent } = turn.history
  if (earlier_messages === null || earlier_messages === 0) return null
  const held = sent === 'only_new' ? ' held by the provider' : ''
  return (
    <Fold
      name={`h${turn.turn}`}
      title={
        <span className={ui.soft}>
          {formatNumberOf(earlier_messages, 'earlier message')}
          {held}
        </span>
      }
    >
      {() => <EarlierList turn={turn} />}
    </Fold>
  )
}

function EarlierList({ turn }: { turn: Turn }) {
  const { turns, threads, select } = useTurnView()
  const earlier = useMemo(
    () => earlierThan(turn, turns, threads).map((each, at) => ({ ...each, at })),
    [turn, turns, threads],
  )
  const shown = earlier.slice(-earlier_max)
  return (
    <>
      {shown.length < earlier.length && (
        <p className={ui.soft}>{formatCount(earlier.length - shown.length)} before these</p>
      )}
      <ol className={css.earlier}>
        {shown.map((each) => (
          <li key={each.at}>
            <Button
              small
              look="plain"
              onClick={() => {
                const found = turns.find((other) => other.turn === each.turn)
                if (found !== undefined) select(found)
              }}
            >
              {each.step === null ? `Call ${each.turn + 1}` : `Step ${each.step + 1}`}
            </Button>
            <span className={ui.soft}>{each.role}</span>
            <span className={ui.cut}>
              <Plain>{beginning(each.text)}</Plain>
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

function whoSaid({ role, from_harness }: TurnMessage, isInside: boolean): string {
  if (from_harness) return 'Harness'
  // A sub-agent gets the text of its parent in the role of a user.
  return role === 'user' && isInside ? 'Asked' : roles[role]
}

const roles: Record<TurnMessage['role'], string> = {
  system: 'System',
  user: 'User',
  assistant: 'Agent, as sent again',
  tool: 'Tool result without its call',
}

function Message({
  message,
  name,
  thread,
}: {
  message: TurnMessage
  name: string
  thread: number
}) {
  const { threads } = useTurnView()
  const { role } = message
  const isInside = threads.find((each) => each.thread === thread)?.kind === 'sub_agent'
  if (role === 'system') {
    const title = (
      <span className={ui.soft}>
        System: <Plain>{beginning(message.text)}</Plain>
      </span>
    )
    return (
      <Fold name={name} title={title} className={css.system}>
        {() => <Content of={message} />}
      </Fold>
    )
  }
  return (
    <div className={css.message}>
      <div className={css.role}>{whoSaid(message, isInside)}</div>
      <div className={css.said}>
        {role === 'tool' ? <Content of={message} /> : <LongText text={message.text} />}
      </div>
    </div>
  )
}
