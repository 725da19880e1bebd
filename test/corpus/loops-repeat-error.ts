import { ill, type LabelledRun, loop } from './labelled-run.ts'

const may = ['tool_failure']

/** The same failing call, repeatedly. */
export const repeatErrorRuns: readonly LabelledRun[] = [
  ill(
    'a script that is not there is run four times',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You are a coding agent with a shell.')
        .user('Build the project.')
        .mark()
        .times(4, (agent) =>
          agent.tool(
            { name: 'bash', args: { command: 'npm run biuld' } },
            'npm error Missing script: "biuld"\nnpm error A complete log is in /home/u/.npm/_logs\n[exit code: 1]',
          ),
        )
        .tool(
          { name: 'bash', args: { command: 'npm run build' } },
          'built in 812ms\n[exit code: 0]',
        )
        .assistant('It is built.'),
    { tools: ['bash'], may },
  ),
  ill(
    'an edit whose text does not occur',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You edit files with str_replace.')
        .user('Rename the function total to sum in cart.py.')
        .tool(
          { name: 'view', args: { path: 'cart.py' } },
          'def total(items):\n    return sum(items)',
        )
        .mark()
        .times(3, (agent) =>
          agent.tool(
            {
              name: 'str_replace',
              args: { path: 'cart.py', old_str: 'def total(cart):', new_str: 'def sum(cart):' },
            },
            'Error: No replacement was performed, old_str `def total(cart):` did not appear verbatim in cart.py.',
          ),
        )
        .assistant('I was not able to rename it: the text to replace was not found.'),
    { model: 'gpt-4o', tools: ['view', 'str_replace'], may },
  ),
  ill(
    'a query about a column that does not exist',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You answer with SQL.')
        .user('How many users signed up last week?')
        .mark()
        .times(3, (agent) =>
          agent.tool(
            {
              name: 'run_sql',
              args: { q: "select count(*) from users where signup_at > now() - interval '7 d'" },
            },
            'ERROR: column "signup_at" does not exist (SQLSTATE 42703)',
          ),
        )
        .tool(
          {
            name: 'run_sql',
            args: { q: "select count(*) from users where created_at > now() - interval '7 d'" },
          },
          'count\n311',
        )
        .assistant('311 users signed up.'),
    { source: 'otlp', may },
  ),
  ill(
    'a flight is booked with a date nobody takes',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You book journeys.')
        .user('Book me a flight from Porto to Oslo on the third of May.')
        .tool(
          { name: 'findFlights', args: { from: 'OPO', to: 'OSL', day: '2027-05-03' } },
          '[{"id":"TP44"}]',
        )
        .mark()
        .times(5, (agent) =>
          agent.tool(
            { name: 'bookFlight', args: { id: 'TP44', day: '03.05.2027' } },
            '{"error":"invalid_date","message":"day must be YYYY-MM-DD"}',
          ),
        )
        .assistant('The flight could not be booked: the system refuses the date.'),
    { tools: ['findFlights', 'bookFlight'], streamed: true, may },
  ),
  ill(
    'an MCP server that wants other parameters',
    [loop('repeat_error')],
    (run) =>
      run
        .user('Lege bitte ein Ticket für den kaputten Drucker an.')
        .mark()
        .times(3, (agent, at) =>
          agent.tool(
            {
              name: 'mcp__jira__create_issue',
              args: { summary: 'Drucker kaputt' },
              text: at === 0 ? 'Ich lege das Ticket an.' : 'Ich versuche es noch einmal.',
            },
            'MCP error -32602: Invalid params: "project" is required',
          ),
        )
        .assistant('Das Ticket konnte ich nicht anlegen; mir fehlt das Projekt.'),
    { may },
  ),
  ill(
    'permission denied, told with another process each time',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You are an SRE agent.')
        .user('Restart nginx on web-3.')
        .mark()
        .times(4, (agent, at) =>
          agent.tool(
            { name: 'ssh_exec', args: { host: 'web-3', cmd: 'systemctl restart nginx' } },
            `Failed to restart nginx.service: Access denied (pid ${2_100 + at * 17})\nexit status ${at % 2 === 0 ? 1 : 4}`,
          ),
        )
        .assistant('I may not restart nginx on web-3. Somebody with rights has to do it.'),
    { tools: ['ssh_exec'], may },
  ),
  ill(
    'a notebook cell with an undefined name',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You analyse data in Python.')
        .user('Plot sales per region.')
        .tool(
          { name: 'python', args: { code: 'import pandas as pd\ndf = pd.read_csv("s.csv")' } },
          '',
        )
        .mark()
        .times(3, (agent) =>
          agent.tool(
            { name: 'python', args: { code: 'data.groupby("region").sales.sum().plot.bar()' } },
            {
              text: 'Traceback (most recent call last):\n  File "<cell>", line 1\nNameError: name \'data\' is not defined',
              failed: true,
            },
          ),
        )
        .tool(
          { name: 'python', args: { code: 'df.groupby("region").sales.sum().plot.bar()' } },
          '<Axes>',
        )
        .assistant('Here is the plot by region.'),
    { source: 'otlp_openinference', may },
  ),
]
