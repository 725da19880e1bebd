import { ill, type LabelledRun, loop } from './labelled-run.ts'

const may = ['tool_failure']

/** One error after another, for any attempt. */
export const errorStreakRuns: readonly LabelledRun[] = [
  ill(
    'five commands that the image does not have',
    [loop('error_streak')],
    (run) =>
      run
        .system('You are a coding agent in a container.')
        .user('Which ports does the service listen on?')
        .mark()
        .tool(
          { name: 'bash', args: { cmd: 'ss -ltnp' } },
          'bash: ss: command not found\n[exit 127]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'netstat -tlpn' } },
          'bash: netstat: command not found\n[exit 127]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'lsof -i' } },
          'bash: lsof: command not found\n[exit 127]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'nmap localhost' } },
          'bash: nmap: command not found\n[exit 127]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'cat /etc/service.conf' } },
          'cat: /etc/service.conf: No such file or directory\n[exit 1]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'fuser 80/tcp' } },
          'bash: fuser: command not found\n[exit 127]',
        )
        .assistant('I have no tool here that could tell the ports.'),
    { tools: ['bash'], may },
  ),
  ill(
    'edits whose texts are all guessed',
    [loop('error_streak')],
    (run) =>
      run
        .system('You edit files.')
        .user('Add a log line to handler.go.')
        .mark()
        .tool(
          {
            name: 'Edit',
            args: { file: 'handler.go', old: 'func Handle(', new: 'func Handle( // log' },
          },
          'Error: String to replace not found in file.',
        )
        .tool(
          {
            name: 'Edit',
            args: { file: 'handler.go', old: 'func handle(', new: 'func handle( // log' },
          },
          'Error: String to replace not found in file.',
        )
        .tool(
          {
            name: 'Edit',
            args: { file: 'handler.go', old: 'func (h *Handler)', new: 'log.Print()' },
          },
          'Error: String to replace not found in file.',
        )
        .tool(
          { name: 'Edit', args: { file: 'handler.go', old: 'return nil', new: 'log.Print()' } },
          'Error: String to replace not found in file.',
        )
        .tool({ name: 'Read', args: { file: 'handler.go' } }, 'package main\n\nfunc serve() {}\n')
        .tool(
          {
            name: 'Edit',
            args: {
              file: 'handler.go',
              old: 'func serve() {}',
              new: 'func serve() { log.Print("serve") }',
            },
          },
          'Edited handler.go',
        )
        .assistant('The log line is in.'),
    { model: 'claude-3-5-sonnet-20241022', provider: 'anthropic', tools: ['Edit', 'Read'], may },
  ),
  ill(
    'six queries, each wrong in its own way',
    [loop('error_streak')],
    (run) =>
      run
        .system('You turn questions into PostgreSQL.')
        .user('Wie viele Bestellungen sind offen?')
        .mark()
        .tool(
          { name: 'query', args: { sql: 'SELECT COUNT(*) FROM order' } },
          'ERROR: syntax error at or near "order"',
        )
        .tool(
          { name: 'query', args: { sql: 'SELECT COUNT(*) FROM bestellung' } },
          'ERROR: relation "bestellung" does not exist',
        )
        .tool(
          { name: 'query', args: { sql: 'SELECT COUNT(*) FROM shop.bestellungen' } },
          'ERROR: schema "shop" does not exist',
        )
        .tool(
          { name: 'query', args: { sql: 'SELECT COUNT(open) FROM orders' } },
          'ERROR: column "open" does not exist',
        )
        .tool(
          { name: 'query', args: { sql: 'SELECT COUNT(* FROM orders' } },
          'ERROR: syntax error at or near "FROM"',
        )
        .tool(
          { name: 'query', args: { sql: 'SELECT COUNT(*) FROM orders WHERE state = open' } },
          'ERROR: column "open" does not exist',
        )
        .assistant('Das konnte ich nicht ermitteln.'),
    { source: 'otlp', may },
  ),
  ill(
    'three clicks on what is not there',
    [loop('error_streak')],
    (run) =>
      run
        .user('Log in to the portal and download my payslip.')
        .tool({ name: 'page_open', args: { url: 'https://hr.example' } }, '<form id="f1">…</form>')
        .mark()
        .tool(
          { name: 'page_click', args: { selector: '#login' } },
          '{"ok":false,"error":"element not found"}',
        )
        .tool(
          { name: 'page_click', args: { selector: 'button.login' } },
          '{"ok":false,"error":"element not found"}',
        )
        .tool(
          { name: 'page_click', args: { selector: 'text=Sign in' } },
          '{"ok":false,"error":"element not found"}',
        )
        .tool(
          { name: 'page_click', args: { selector: '#f1 button' } },
          '{"ok":false,"error":"element not found"}',
        )
        .assistant('I can not find a way to log in to the portal.'),
    { tools: ['page_open', 'page_click'], streamed: true, may },
  ),
  ill(
    'a form that refuses every body',
    [loop('error_streak')],
    (run) =>
      run
        .system('You file reports through the API.')
        .user('Report the pothole in Mill Lane.')
        .mark()
        .tool(
          { name: 'post_report', args: { street: 'Mill Lane' } },
          '{"error":"validation","field":"lat","message":"is required"}',
        )
        .tool(
          { name: 'post_report', args: { street: 'Mill Lane', lat: 51.2 } },
          '{"error":"validation","field":"lon","message":"is required"}',
        )
        .tool(
          { name: 'post_report', args: { street: 'Mill Lane', lat: 51.2, lon: -1 } },
          '{"error":"validation","field":"kind","message":"is required"}',
        )
        .tool(
          { name: 'post_report', args: { street: 'Mill Lane', lat: 51.2, lon: -1, kind: 'hole' } },
          '{"error":"validation","field":"kind","message":"must be one of 1..9"}',
        )
        .tool(
          { name: 'post_report', args: { street: 'Mill Lane', lat: 51.2, lon: -1, kind: 3 } },
          '{"error":"validation","field":"photo","message":"is required"}',
        )
        .assistant('The report needs a photo, which I do not have.'),
    { tools: ['post_report'], may },
  ),
  ill(
    'calls side by side that all fail',
    [loop('error_streak')],
    (run) =>
      run
        .user('Read the three config files and compare them.')
        .mark()
        .assistant({
          calls: [
            { name: 'read', args: { path: 'a.yaml' } },
            { name: 'read', args: { path: 'b.yaml' } },
            { name: 'read', args: { path: 'c.yaml' } },
          ],
        })
        .results([
          "ENOENT: no such file or directory, open 'a.yaml'",
          "ENOENT: no such file or directory, open 'b.yaml'",
          "ENOENT: no such file or directory, open 'c.yaml'",
        ])
        .assistant({
          calls: [
            { name: 'read', args: { path: 'conf/a.yml' } },
            { name: 'read', args: { path: 'conf/b.yml' } },
            { name: 'read', args: { path: 'conf/c.yml' } },
          ],
        })
        .results([
          "ENOENT: no such file or directory, open 'conf/a.yml'",
          "ENOENT: no such file or directory, open 'conf/b.yml'",
          "ENOENT: no such file or directory, open 'conf/c.yml'",
        ])
        .assistant('None of the three files is there.'),
    { source: 'otlp_openinference', may },
  ),
  ill(
    'tools that fail six times, told without content',
    [loop('error_streak')],
    (run) =>
      run
        .user('Move the files.')
        .mark()
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'move_file', args: { n: at } },
            { text: `Error: target ${at} is locked`, failed: true },
          ),
        )
        .assistant('None could be moved.'),
    { source: 'otlp_no_content', may },
  ),
]
