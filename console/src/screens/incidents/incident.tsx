import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api } from '../../api/client.ts'
import type { IncidentDetail, IncidentSeries as Series } from '../../api/schema.gen.d.ts'
import { useKeys } from '../../browser/keys.ts'
import { neighbours } from '../../browser/list-walk.ts'
import { useLive } from '../../session/live.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Chart } from '../../ui/chart.tsx'
import { formatCompact } from '../../ui/format.ts'
import { Button, Heading, Severity, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Deliveries } from './deliveries.tsx'
import { EvidenceList } from './evidence.tsx'
import { IncidentFacts } from './incident-facts.tsx'
import { Group, Marks } from './incident-parts.tsx'
import css from './incidents.module.css'
import { type Asked, MoveDialog } from './move-dialogs.tsx'
import { useMoveIncident } from './move-incident.ts'
import { Timeline } from './timeline.tsx'

/** One incident: why it opened, what happened since, and what to do with it. */
export function Incident() {
  const { incident_id: id } = useParams({ from: '/p/$project_id/incidents/$incident_id' })
  const incident = api.useQuery('get', '/api/v2/observability/incidents/{id}', {
    params: { path: { id } },
  })
  useLive('incidents', () => void incident.refetch())
  return (
    <>
      <Walk incident_id={incident.data?.incident_id ?? id} />
      <Loaded query={incident} what="Reading the incident">
        {(data) => <IncidentPage incident={data} />}
      </Loaded>
    </>
  )
}

function IncidentPage({ incident }: { incident: IncidentDetail }) {
  const { number, title, severity, state, group, opened_at } = incident
  return (
    <>
      <Heading
        title={
          <>
            #{number} <Plain>{title}</Plain>
          </>
        }
      />
      <div className={ui.row}>
        <Severity of={severity} />
        <State of={state} />
        <Marks of={incident} />
        <span className={ui.soft}>
          opened <Time at={opened_at} ago />
        </span>
        <Group of={group} />
      </div>
      <Actions incident={incident} />
      <div className={css.columns}>
        <div className={css.main}>
          <section className={css.part} aria-label="Evidence">
            <h2>Evidence</h2>
            <EvidenceList incident={incident} />
          </section>
          {incident.series !== null && (
            <IncidentSeries series={incident.series} opened_at={opened_at} />
          )}
          <section className={css.part} aria-label="Timeline">
            <h2>Timeline</h2>
            <Timeline incident={incident} />
          </section>
          <section className={css.part} aria-label="Deliveries">
            <h2>Deliveries</h2>
            <Deliveries incident={incident} />
          </section>
        </div>
        <IncidentFacts incident={incident} />
      </div>
    </>
  )
}

/** The way back to the list, and to the incidents before and after. */
function Walk({ incident_id }: { incident_id: string }) {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const around = neighbours('incidents', incident_id)
  const open = (id: string | undefined) => {
    if (id === undefined) return
    const params = { project_id, incident_id: id }
    void navigate({ to: '/p/$project_id/incidents/$incident_id', params })
  }
  useKeys({ '[': () => open(around?.previous), ']': () => open(around?.next) })
  return (
    <nav className={ui.row} aria-label="List of incidents">
      {around === undefined ? (
        <Link to="/p/$project_id/incidents" params={{ project_id }}>
          Incidents
        </Link>
      ) : (
        <>
          <Link to={around.href as '/'}>Incidents</Link>
          <span className={ui.soft}>{around.at}</span>
          <Button
            small
            look="plain"
            disabled={around.previous === undefined}
            onClick={() => open(around.previous)}
          >
            Previous <kbd>[</kbd>
          </Button>
          <Button
            small
            look="plain"
            disabled={around.next === undefined}
            onClick={() => open(around.next)}
          >
            Next <kbd>]</kbd>
          </Button>
        </>
      )}
    </nav>
  )
}

/** The moves that the state of the incident allows. */
function Actions({ incident }: { incident: IncidentDetail }) {
  const isEditor = useHasRole('editor')
  const [asked, setAsked] = useState<Asked>()
  const { mutate, isPending } = useMoveIncident()
  const { state, snoozed_until } = incident
  const isResolved = state === 'resolved'
  const can = (move: Asked) =>
    isEditor &&
    (move === 'reopen' ? state !== 'open' : !isResolved) &&
    (move !== 'ack' || state === 'open')
  const ask = (move: Asked) => () => can(move) && setAsked(move)
  useKeys({ a: ask('ack'), r: ask('resolve'), s: ask('silence') })
  const unsnooze = () =>
    mutate({ incident, move: { type: 'unsnooze' } }, { onError: (error) => notifyFault(error) })
  return (
    <div className={ui.row}>
      {!isResolved && (
        <>
          <Button look="primary" disabled={!can('ack')} onClick={ask('ack')}>
            Acknowledge <kbd>a</kbd>
          </Button>
          <Button disabled={!can('resolve')} onClick={ask('resolve')}>
            Resolve <kbd>r</kbd>
          </Button>
          <Button disabled={!can('silence')} onClick={ask('silence')}>
            Silence <kbd>s</kbd>
          </Button>
          {snoozed_until !== null && (
            <Button disabled={!isEditor || isPending} onClick={unsnooze}>
              End the snooze
            </Button>
          )}
          <Button disabled={!can('assign')} onClick={ask('assign')}>
            Assign…
          </Button>
        </>
      )}
      {state !== 'open' && (
        <Button disabled={!can('reopen')} onClick={ask('reopen')}>
          Reopen
        </Button>
      )}
      {!isEditor && <span className={ui.soft}>Only editors of the project can answer.</span>}
      <MoveDialog asked={asked} incident={incident} onClose={() => setAsked(undefined)} />
    </div>
  )
}

/** The measurements of the rule around the opening, with its threshold. */
function IncidentSeries({ series, opened_at }: { series: Series; opened_at: string }) {
  const { rule, threshold, points } = series
  const x = useMemo(() => points.map(({ at }) => Date.parse(at)), [points])
  const values = useMemo(
    () => [{ name: rule, values: points.map(({ value }) => value) }],
    [rule, points],
  )
  const limits = useMemo(
    () => (threshold === null ? [] : [{ value: threshold, name: `limit ${threshold}` }]),
    [threshold],
  )
  const bands = useMemo(() => {
    const opened = Date.parse(opened_at)
    return [{ from: opened, to: Math.max(opened, x.at(-1) ?? opened), name: 'since the opening' }]
  }, [opened_at, x])
  if (points.length === 0) return null
  return (
    <section className={css.part} aria-label="Measurements">
      <h2>Measurements</h2>
      <Chart
        label="Value of the rule"
        {...{ x, limits, bands }}
        series={values}
        format={formatValue}
        height={180}
      />
    </section>
  )
}

function formatValue(value: number): string {
  return Math.abs(value) < 1 && value !== 0 ? value.toPrecision(2) : formatCompact(value)
}
