import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import type { OnboardingCheck } from '../../api/schema.gen.d.ts'
import type { Search } from '../../browser/search.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { Badge, Heading, Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import ui from '../../ui/ui.module.css'
import { ClientSetup } from './client-setup.tsx'
import css from './connect.module.css'
import { Scenario } from './scenario.tsx'

/** The first minutes: point a client here, see its first call, and try what detection finds. */
export function Connect() {
  // The key lives as long as the screen: it is shown once, and its tab may be left and opened again.
  const [key, setKey] = useState<string>()
  return (
    <>
      <Heading title="Connect" />
      <Tabs
        label="Ways to begin"
        tabs={[
          {
            id: 'client',
            title: 'Your client',
            render: () => <ClientSetup createdKey={key} onCreated={setKey} />,
          },
          { id: 'scenario', title: 'Try with sample agents', render: () => <Scenario /> },
          { id: 'checks', title: 'Checks', render: () => <Checks /> },
        ]}
      />
    </>
  )
}

const marks = { done: '✓', missing: '○', unknown: '?' } as const

/** The report of `looptrace doctor` on the project: done and missing checks, with commands. */
function Checks() {
  const report = api.useQuery('get', '/api/v1/onboarding/report')
  useLive('tasks', () => void report.refetch())
  return (
    <Loaded query={report} what="Checking the project">
      {({ ready, done, checks, variables, checked_at }) => (
        <div className={ui.stack}>
          <p>
            <strong>{ready ? 'The project is ready.' : 'The project is not ready yet.'}</strong>{' '}
            {done} of {checks.length} checks are done. <code>looptrace doctor</code> prints the
            same.{' '}
            <span className={ui.soft}>
              Checked <Time at={checked_at} />.
            </span>
          </p>
          <div>
            {checks.map((check) => (
              <Check key={check.id} check={check} />
            ))}
          </div>
          <details>
            <summary>Variables of the commands</summary>
            <dl className={ui.facts}>
              {variables.map(({ name, meaning }) => (
                <div key={name} style={{ display: 'contents' }}>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </details>
        </div>
      )}
    </Loaded>
  )
}

function Check({ check }: { check: OnboardingCheck }) {
  const { title, state, required, since, detail } = check
  return (
    <div className={css.step}>
      <span aria-hidden="true">{marks[state]}</span>
      <div className={ui.stack}>
        <div className={ui.row}>
          <h2 style={{ fontSize: 14 }}>{title}</h2>
          <Badge tone={state === 'done' ? 'good' : state === 'missing' ? 'warn' : undefined}>
            {state}
          </Badge>
          {!required && <span className={ui.soft}>optional</span>}
          {since !== null && (
            <span className={ui.soft}>
              since <Time at={since} />
            </span>
          )}
        </div>
        <p className={ui.soft}>{detail}</p>
        {state !== 'done' && <HowTo check={check} />}
      </div>
    </div>
  )
}

/** Screens of the console where a check can be completed. */
const screens: Partial<Record<string, readonly [title: string, path: string, search?: Search]>> = {
  project_key: ['Keys', 'access', { tab: 'keys' }],
  first_call: ['Connect', 'connect'],
  first_task: ['Connect', 'connect'],
  first_span: ['the lines for OTLP', 'connect', { client: 'otlp' }],
  seeded_scenario: ['the sample agents', 'connect', { tab: 'scenario' }],
  incident_rule: ['Rules', 'rules'],
  notification_channel: ['Channels', 'channels'],
  verification: ['Tasks', 'tasks'],
  verification_policy: ['Verification', 'verification'],
  feedback: ['Feedback', 'feedback'],
  retention_policy: ['Retention', 'retention'],
  archive: ['Archives', 'archives'],
}

function HowTo({ check: { id, commands } }: { check: OnboardingCheck }) {
  const project_id = useProjectId()
  const [title, path, search = {}] = screens[id] ?? []
  return (
    <>
      {path !== undefined && (
        <p>
          <Link to={`/p/${project_id}/${path}` as '/'} search={search as never}>
            Open {title}
          </Link>
        </p>
      )}
      <details>
        <summary>Do it by command</summary>
        {commands.map(({ tool, text }) => (
          <div key={text} className={css.command}>
            <div className={ui.row}>
              <span className={ui.grow}>{tool}</span>
              <Copy small text={() => text}>
                Copy
              </Copy>
            </div>
            <pre className={css.code}>{text}</pre>
          </div>
        ))}
      </details>
    </>
  )
}
