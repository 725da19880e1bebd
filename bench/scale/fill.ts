import type pg from 'pg'
import { newId } from '../../src/kernel/ids.ts'
import { loudRule } from '../../test/support/incident-records.ts'

/**
 * Fills an empty database: projects with rules that one worker evaluates, a fiftieth of them due now
 * (rules at 1 min and a look each second), a policy of retention and a queued daily run for each.
 */
export async function fillProjects(
  pool: pg.Pool,
  { projects, rules }: { projects: number; rules: number },
): Promise<{ holder: string; some: string[] }> {
  const [organization_id, holder] = [newId(), newId()]
  const client = await pool.connect()
  const run = (text: string, values: unknown[] = []) => client.query(text, values)
  try {
    // Without triggers, which would mark each project for each of its rules.
    await run('set session_replication_role = replica')
    await run(`insert into organizations (id, name) values ($1, 'bench')`, [organization_id])
    await run(
      `insert into projects (id, organization_id, name)
       select gen_random_uuid(), $1, 'project ' || n from generate_series(1, $2) as n`,
      [organization_id, projects],
    )
    await run(
      `insert into evaluation_workers (holder, expires_at, leases)
       values ($1, now() + interval '1 day', $2)`,
      [holder, projects],
    )
    await run(
      `insert into evaluation_leases (project_id, holder, due_at, events_due_at)
       select id, $1, case when row_number() over () % 50 = 0 then now() - interval '1 s'
         else now() + interval '1 h' end, 'infinity' from projects`,
      [holder],
    )
    await run(
      `insert into incident_rules (id, project_id, name, kind, spec, suspended, version,
         created_at, updated_at, updated_by)
       select gen_random_uuid(), id, 'rule-' || n, 'condition', $1, false, 1, now(), now(), 'bench'
       from projects, generate_series(1, $2) as n`,
      [JSON.stringify(loudRule({ name: 'rule' })), rules],
    )
    await run(
      `insert into rule_evaluations (rule_id, project_id, last_slot, evaluated_at)
       select id, project_id, now(), now() from incident_rules`,
    )
    await run(
      `insert into job_runs (id, project_id, kind, params, requested_by)
       select gen_random_uuid(), id, 'retention', '{}', 'schedule' from projects`,
    )
    await run(
      `insert into retention_policies (project_id, days, environments, archive_before_delete,
         archive, next_run_at, version, updated_at, updated_by)
       select id, '{}', '[]', false, '{"enabled": true, "schedule": "0 4 * * *"}',
         now() + interval '1 h', 1, now(), 'bench' from projects`,
    )
    // A fiftieth is due, as with the rules.
    await run(
      `update retention_policies set archive_since = now(), archive_due_at =
         case when random() < 0.02 then now() else now() + interval '1 h' end`,
    )
    await run('analyze')
    const { rows } = await run('select project_id from evaluation_leases limit 256')
    return { holder, some: rows.map(({ project_id }) => String(project_id)) }
  } finally {
    client.release(true)
  }
}
