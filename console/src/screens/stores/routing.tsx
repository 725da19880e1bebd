import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { StoreRouting } from '../../api/schema.gen.d.ts'
import { useHasRole } from '../../session/project.ts'
import { CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { formatCount } from '../../ui/format.ts'
import { isUnderWay, Progress, pollWhile } from '../../ui/job.tsx'
import { Facts, State, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { storeName } from './store-name.ts'
import css from './stores.module.css'

const path = '/api/v2/observability/store-routing'

/** The kinds of reads, with what people read. */
const reads = [
  ['point', 'Look-ups by an id'],
  ['list', 'Other pages'],
  ['aggregate', 'Counts and sums'],
  ['explorer', 'Whole traces'],
] as const

const choices = ['auto', 'clickhouse', 'postgres'] as const

/** The stores that are written and read, and how far the hot window is filled. */
export function Routing() {
  const query = api.useQuery(
    'get',
    path,
    {},
    { refetchInterval: ({ state }) => pollWhile([state.data?.hot_window?.backfill?.state]) },
  )
  return (
    <Loaded query={query} what="Reading the routing">
      {(routing) => (
        <div className={ui.stack}>
          <RoutingForm key={routing.version} routing={routing} />
          <HotWindow of={routing} />
        </div>
      )}
    </Loaded>
  )
}

function RoutingForm({ routing }: { routing: StoreRouting }) {
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const [isBoth, setBoth] = useState(routing.write_stores.includes('postgres'))
  const reload = () => client.invalidateQueries({ queryKey: ['get', path] })
  const save = api.useMutation('put', path, {
    onSuccess: async () => {
      notify('The routing is saved. All processes follow within five seconds.')
      await reload()
    },
  })
  const params = { header: { 'If-Match': `"${routing.version}"` } }
  const faults = faultsOf(save.error)
  const submit = (form: FormData) => {
    const choice = (name: string) => choices.find((each) => each === form.get(name)) ?? 'auto'
    save.mutate({
      params,
      body: {
        write_stores: isBoth ? ['clickhouse', 'postgres'] : ['clickhouse'],
        hot_window_hours: Number(form.get('hours') ?? routing.hot_window_hours),
        routes: {
          point: choice('point'),
          list: choice('list'),
          aggregate: choice('aggregate'),
          explorer: choice('explorer'),
        },
        fallback: form.get('fallback') === 'on',
      },
    })
  }
  return (
    <Form
      of={save}
      action="Save the routing"
      isAdmin={isAdmin}
      className={css.form}
      onSubmit={submit}
      onReload={() => void reload()}
    >
      <fieldset className={css.plain} disabled={!isAdmin}>
        <CheckField
          label="Keep the latest hours in PostgreSQL too; ClickHouse has everything"
          checked={isBoth}
          onChange={(event) => setBoth(event.target.checked)}
        />
        {isBoth && (
          <TextField
            label="Hours in PostgreSQL"
            name="hours"
            inputMode="numeric"
            defaultValue={routing.hot_window_hours}
            fault={faultAt(faults, '/hot_window_hours')}
          />
        )}
        {reads.map(([name, title]) => (
          <SelectField
            key={name}
            label={`${title}: which store is asked first`}
            name={name}
            defaultValue={routing.routes[name]}
            options={choices.map(
              (each) => [each, each === 'auto' ? each : storeName(each)] as const,
            )}
            fault={faultAt(faults, `/routes/${name}`)}
          />
        ))}
        <CheckField
          label="Ask the other store if the first one is unavailable or lacks the window"
          name="fallback"
          defaultChecked={routing.fallback}
        />
      </fieldset>
    </Form>
  )
}

function HotWindow({ of: { hot_window } }: { of: StoreRouting }) {
  if (hot_window === null) return null
  const { readable_from, backfill, incomplete_days } = hot_window
  return (
    <section className={ui.stack} aria-label="Hot window">
      <h2>Hot window in PostgreSQL</h2>
      <Facts
        of={[
          ['Readable from', readable_from ? <Time key="r" at={readable_from} /> : 'not yet'],
          ['Copy', backfill && <State key="s" of={backfill.state} />],
          ['Rows copied', backfill && formatCount(backfill.rows)],
          ['Error', backfill?.error && <Plain key="e">{backfill.error}</Plain>],
        ]}
      />
      {backfill !== null && isUnderWay(backfill.state) && (
        <Progress
          label={backfill.of === null ? 'Starting' : `${backfill.done} of ${backfill.of} hours`}
          done={backfill.done}
          {...(backfill.of !== null && { of: backfill.of })}
        />
      )}
      {incomplete_days.length > 0 && (
        <ul aria-label="Days that ClickHouse answers alone">
          {incomplete_days.map(({ day, reason }) => (
            <li key={day}>
              {day}: <Plain>{reason}</Plain>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
