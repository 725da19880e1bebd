import { Link } from '@tanstack/react-router'
import type { IncidentDetail } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../session/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { formatCount } from '../../ui/format.ts'
import { Facts, Time } from '../../ui/parts.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import css from './incidents.module.css'

/** The facts of an incident beside its story. */
export function IncidentFacts({ incident }: { incident: IncidentDetail }) {
  const { labels, annotations, runbook_url, snoozed_until } = incident
  const { acknowledged_at, resolved_at } = incident
  return (
    <aside className={css.side} aria-label="About the incident">
      <h2>About</h2>
      <Facts
        of={[
          ['Rules', <RuleLinks key="rules" names={incident.rules} />],
          ['Signal', <Plain key="signal">{incident.signal}</Plain>],
          [
            'Assignee',
            incident.assignee === null ? 'nobody' : <Plain key="who">{incident.assignee}</Plain>,
          ],
          ['Opened', <Time key="opened" at={incident.opened_at} />],
          ['Acknowledged', acknowledged_at && <Time at={acknowledged_at} />],
          ['Resolved', resolved_at && <Time at={resolved_at} />],
          ['Snoozed until', snoozed_until && <Time at={snoozed_until} />],
          ['Muted by', mutedBy(incident)],
          ['Inhibited by', inhibitedBy(incident)],
          ['Key', <Plain key="key">{incident.dedup_key}</Plain>],
          ['Id', <code key="id">{incident.incident_id}</code>],
        ]}
      />
      {runbook_url !== null && (
        <section className={css.part}>
          <h3>Runbook</h3>
          <p>
            <code>
              <Plain>{runbook_url}</Plain>
            </code>
          </p>
          <span>
            <Copy small text={() => runbook_url}>
              Copy the address
            </Copy>
          </span>
        </section>
      )}
      <Texts title="Labels" of={labels} />
      <Texts title="Annotations" of={annotations} />
    </aside>
  )
}

function RuleLinks({ names }: { names: readonly string[] }) {
  const project_id = useProjectId()
  return (
    <>
      {names.map((name, at) => (
        <span key={name}>
          {at > 0 && ', '}
          <Link to="/p/$project_id/rules" params={{ project_id }} search={{ name } as never}>
            <Plain>{name}</Plain>
          </Link>
        </span>
      ))}
    </>
  )
}

function mutedBy({ suppressed_by }: IncidentDetail): string | undefined {
  const suppressions = suppressed_by.filter((by) => by !== 'person').length
  const parts = [
    ...(suppressed_by.includes('person') ? ['a snooze'] : []),
    ...(suppressions > 0 ? [`${formatCount(suppressions)} suppressions`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' and ')
}

function inhibitedBy({ inhibited_by }: IncidentDetail): string | undefined {
  return inhibited_by.length === 0 ? undefined : `${formatCount(inhibited_by.length)} incidents`
}

function Texts({ title, of }: { title: string; of: Readonly<Record<string, string>> }) {
  const entries = Object.entries(of)
  if (entries.length === 0) return null
  return (
    <section className={css.part}>
      <h3>{title}</h3>
      <dl className={ui.facts}>
        {entries.map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>
              <Plain>{name}</Plain>
            </dt>
            <dd>
              <LongText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
