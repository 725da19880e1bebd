import type { AgentRun } from './agent-run.ts'
import { ill, type LabelledRun, loop } from './labelled-run.ts'

const failing =
  '1 failed, 11 passed\nFAILED test_cart.py::test_total - assert 4 == 5\n[exit code: 1]'

function edit(run: AgentRun, from: string, to: string): AgentRun {
  const args = { path: 'cart.py', old_str: from, new_str: to }
  return run.tool({ name: 'edit_file', args }, 'The file cart.py has been edited.')
}

/** A few calls in the same order with the same results, iteration after iteration. */
export const cycleRuns: readonly LabelledRun[] = [
  ill(
    'an edit forth and back with a red test after each',
    [loop('cycle')],
    (run) =>
      run
        .system('You are a coding agent. Make the tests pass.')
        .user('Fix test_total.')
        .tool({ name: 'read_file', args: { path: 'cart.py' } }, 'return n + 1')
        .mark()
        .times(3, (agent) => {
          edit(agent, 'n + 1', 'n + 2')
          agent.tool({ name: 'shell', args: { cmd: 'pytest -q' } }, failing)
          edit(agent, 'n + 2', 'n + 1')
          return agent.tool({ name: 'shell', args: { cmd: 'pytest -q' } }, failing)
        })
        .assistant('I could not make test_total pass.'),
    { tools: ['read_file', 'edit_file', 'shell'], may: ['tool_failure', 'scattered_repeat'] },
  ),
  ill(
    'a browser goes to a page and back',
    [loop('cycle')],
    (run) =>
      run
        .user('What are the opening hours of the town hall?')
        .mark()
        .times(4, (agent) =>
          agent
            .tool(
              { name: 'goto', args: { url: 'https://town.example/contact' } },
              '<h1>Contact</h1>',
            )
            .tool({ name: 'back' }, '<h1>Welcome</h1><a href="/contact">Contact</a>'),
        )
        .assistant('The site does not tell the hours.'),
    { model: 'gpt-4o', tools: ['goto', 'back'] },
  ),
  ill(
    'search, open, note, three times over',
    [loop('cycle')],
    (run) =>
      run
        .system('You do research and keep notes.')
        .user('Who invented the zip?')
        .mark()
        .times(3, (agent) =>
          agent
            .tool(
              { name: 'web_search', args: { query: 'inventor of the zip' } },
              '1. zips.example/history',
            )
            .tool(
              { name: 'open_url', args: { url: 'zips.example/history' } },
              'Whitcomb Judson, 1893 …',
            )
            .tool({ name: 'list_notes' }, '[]'),
        )
        .assistant('Whitcomb Judson, in 1893.'),
    { source: 'otlp' },
  ),
  ill(
    'two laps that both fail',
    [loop('cycle')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Install the package and import it.')
        .mark()
        .times(2, (agent) =>
          agent
            .tool(
              { name: 'run_command', args: { command: 'pip install fastjsn' } },
              'ERROR: No matching distribution found for fastjsn\nexit code 1',
            )
            .tool(
              { name: 'run_command', args: { command: 'python -c "import fastjsn"' } },
              "ModuleNotFoundError: No module named 'fastjsn'\nexit code 1",
            ),
        )
        .assistant('There is no package of that name.'),
    { may: ['tool_failure'] },
  ),
  ill(
    'an incident agent looks at the same four things',
    [loop('cycle')],
    (run) =>
      run
        .system('You are the on-call agent of a cluster.')
        .user('Checkout is slow since 10:00. Find out why.')
        .mark()
        .times(3, (agent) =>
          agent
            .tool(
              { name: 'kubectl_get', args: { kind: 'pods', ns: 'shop' } },
              'checkout-1 Running 0',
            )
            .tool({ name: 'kubectl_describe', args: { pod: 'checkout-1' } }, 'Limits: cpu 500m')
            .tool({ name: 'kubectl_logs', args: { pod: 'checkout-1' } }, 'GET /pay 200 1830ms')
            .tool({ name: 'promql', args: { q: 'rate(cpu[5m])' } }, '0.49'),
        )
        .assistant('The pod is at its CPU limit of 500m.'),
    { tools: ['kubectl_get', 'kubectl_describe', 'kubectl_logs', 'promql'], streamed: true },
  ),
  ill(
    'two agents hand a customer to each other',
    [loop('cycle')],
    (run) =>
      run
        .system('Route customers to the right desk.')
        .user('J’ai été débité deux fois pour ma commande.')
        .mark()
        .times(4, (agent) =>
          agent
            .tool({ name: 'transfer_to_billing' }, '{"assistant":"billing"}')
            .tool({ name: 'transfer_to_support' }, '{"assistant":"support"}'),
        )
        .assistant('Je transmets votre demande à un collègue.'),
    { tools: ['transfer_to_billing', 'transfer_to_support'] },
  ),
  ill(
    'six looks at data, lap after lap',
    [loop('cycle')],
    (run) =>
      run
        .user('Why did churn rise in March?')
        .tool({ name: 'list_tables' }, 'users, events, plans')
        .mark()
        .times(3, (agent) =>
          agent
            .tool({ name: 'describe', args: { table: 'users' } }, 'id, plan_id, left_at')
            .tool({ name: 'describe', args: { table: 'events' } }, 'id, user_id, kind')
            .tool({ name: 'describe', args: { table: 'plans' } }, 'id, price')
            .tool({ name: 'head', args: { table: 'users' } }, '1,2,2026-03-04')
            .tool({ name: 'head', args: { table: 'events' } }, '1,1,login')
            .tool({ name: 'head', args: { table: 'plans' } }, '1,900'),
        )
        .assistant('I can not tell from these tables.'),
    { source: 'otlp_openinference' },
  ),
  ill(
    'a robot turns left and right in front of a wall',
    [loop('cycle')],
    (run) =>
      run
        .system('You steer a robot in a maze. Reach the exit.')
        .user('Go.')
        .tool({ name: 'move', args: { dir: 'north' } }, 'moved to (0,1)')
        .mark()
        .times(5, (agent) =>
          agent
            .tool({ name: 'move', args: { dir: 'west' } }, 'moved to (-1,1)')
            .tool({ name: 'move', args: { dir: 'east' } }, 'moved to (0,1)'),
        ),
    { tools: ['move'], may: ['premature_stop', 'orphan_call'] },
  ),
]
