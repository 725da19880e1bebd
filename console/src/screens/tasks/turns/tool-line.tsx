import type { TurnToolUse } from '../../../api/schema.gen.d.ts'
import { formatDuration } from '../../../ui/format.ts'
import { Badge } from '../../../ui/parts.tsx'
import { Plain } from '../../../ui/text.tsx'
import ui from '../../../ui/ui.module.css'
import { beginning, Content } from './content.tsx'
import { Fold } from './fold.tsx'
import css from './turns.module.css'

/** A tool use as one line: tool, main argument, outcome. Arguments and result are inside. */
export function ToolLine({ use }: { use: TurnToolUse }) {
  const { index, latency_ms } = use
  const title = (
    <>
      <span className={css.toolTitle}>
        <Plain>{use.title || 'A result without its call'}</Plain>
      </span>
      <Outcome of={use} />
      {latency_ms !== null && <span className={ui.soft}>{formatDuration(latency_ms)}</span>}
      {use.result !== null && (
        <span className={css.preview}>
          <Plain>{beginning(use.result.text)}</Plain>
        </span>
      )}
    </>
  )
  return (
    <Fold name={`u${index}`} title={title} className={css.tool}>
      {() => <ToolDetails use={use} />}
    </Fold>
  )
}

function Outcome({ of: { error, answered, orphan, origin } }: { of: TurnToolUse }) {
  if (error === 'outage') return <Badge tone="bad">unavailable</Badge>
  if (error === 'error') return <Badge tone="bad">failed</Badge>
  if (orphan === 'result') return <Badge tone="warn">nobody asked</Badge>
  if (!answered) return <Badge tone="warn">no result</Badge>
  return origin === 'run' ? <Badge>ran without a recorded request</Badge> : null
}

function ToolDetails({ use }: { use: TurnToolUse }) {
  return (
    <>
      <h4>Arguments{!use.arguments_valid && ' (not valid JSON)'}</h4>
      {use.arguments === null ? <NotRecorded /> : <Content of={use.arguments} />}
      <h4>Result</h4>
      {use.result === null ? <NotRecorded /> : <Content of={use.result} />}
    </>
  )
}

function NotRecorded() {
  return <p className={ui.soft}>Not recorded</p>
}
