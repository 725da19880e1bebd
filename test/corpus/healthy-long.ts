import type { AgentRun } from './agent-run.ts'
import { healthy, type LabelledRun } from './labelled-run.ts'

const editor = 'str_replace_editor'
const repro = { name: 'bash', args: { command: 'python reproduce.py' } }
const wrong = 'expected 3 rows, got 2\n[exit code: 0]'

function viewAndEdit(run: AgentRun, at: number): AgentRun {
  return run
    .tool(
      {
        name: editor,
        args: { command: 'view', path: '/repo/io/csv.py', view_range: [at * 10, at * 10 + 40] },
      },
      `${at * 10}\tdef read_${at}(f):`,
    )
    .tool(
      {
        name: editor,
        args: {
          command: 'str_replace',
          path: '/repo/io/csv.py',
          old_str: `a${at}`,
          new_str: `b${at}`,
        },
      },
      'The file /repo/io/csv.py has been edited.',
    )
}

/** Longer healthy runs of the kinds that agents are measured with. */
export const longHealthyRuns: readonly LabelledRun[] = [
  healthy(
    'one editor tool for looks and changes, and a script that stays wrong for a while',
    (run) => {
      run
        .system('You fix issues in a repository.')
        .user('<issue>read_csv drops the last row</issue>')
      run.tool(
        { name: 'bash', args: { command: 'cat > reproduce.py <<EOF\nprint(1)\nEOF' } },
        '[exit code: 0]',
      )
      for (let at = 0; at < 4; at++) viewAndEdit(run, at).tool(repro, wrong)
      return viewAndEdit(run, 5)
        .tool(repro, 'ok, 3 rows\n[exit code: 0]')
        .assistant('read_csv keeps the last row now; reproduce.py prints 3 rows.')
    },
    { tools: [editor, 'bash'], model: 'gpt-4o' },
  ),
  healthy(
    'changes by shell alone between equal test runs',
    (run) => {
      const changes = [
        "sed -i 's/a/b/' x.py",
        'git checkout HEAD~1 -- y.py',
        'cat > z.py <<EOF\npass\nEOF',
        'git stash pop',
        'patch -p1 < fix.diff',
      ]
      run.system('You are a coding agent with a shell.').user('Make `make check` green.')
      for (const command of changes) {
        run.tool({ name: 'bash', args: { command } }, '')
        run.tool(
          { name: 'bash', args: { command: 'make check' } },
          'check: 2 of 7 failed\n[exit code: 2]',
        )
      }
      return run
        .tool({ name: 'bash', args: { command: 'rm stale.pyc' } }, '')
        .tool(
          { name: 'bash', args: { command: 'make check' } },
          'check: 7 of 7 passed\n[exit code: 0]',
        )
        .assistant('A stale file was the cause; make check is green.')
    },
    { tools: ['bash'] },
  ),
  healthy(
    'an airline agent looks up four bookings of one user',
    (run) => {
      run
        .system('You are an airline agent. Confirm the identity first.')
        .user('Hi, I am mia_li_3668 and want to know which of my flights can be refunded.')
      run.tool(
        { name: 'get_user_details', args: { user_id: 'mia_li_3668' } },
        '{"reservations":["A1","B2","C3","D4"]}',
      )
      for (const [id, cabin] of [
        ['A1', 'economy'],
        ['B2', 'business'],
        ['C3', 'economy'],
        ['D4', 'basic_economy'],
      ]) {
        run.tool(
          { name: 'get_reservation_details', args: { reservation_id: id } },
          `{"id":"${id}","cabin":"${cabin}"}`,
        )
      }
      return run
        .assistant('Only B2, in business, can be refunded.')
        .user('Then cancel B2.')
        .tool(
          { name: 'cancel_reservation', args: { reservation_id: 'B2' } },
          '{"status":"cancelled"}',
        )
        .assistant('B2 is cancelled; the refund takes five days.')
    },
    {
      tools: ['get_user_details', 'get_reservation_details', 'cancel_reservation'],
      model: 'gpt-4o',
    },
  ),
  healthy(
    'each step of a browser says scrolled, and the page comes as a message',
    (run) => {
      run
        .system('You act in a browser. The page is shown after each action.')
        .user('Find the price of the tent. Page: Home')
      for (const page of ['Shoes', 'Jackets', 'Bags', 'Stoves']) {
        run.tool({ name: 'scroll', args: { dy: 800 } }, 'Scrolled.').user(`Page: ${page}`)
      }
      return run
        .tool({ name: 'scroll', args: { dy: 800 } }, 'Scrolled.')
        .user('Page: Tent, 199 euros')
        .assistant('The tent costs 199 euros.')
    },
    { tools: ['scroll'] },
  ),
  healthy(
    'next, next, next, with another page each time',
    (run) =>
      run
        .user('Collect the names on all pages.')
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'browser_click', args: { selector: '#next' } },
            `Page ${at + 2}: Ann-${at}, Ben-${at}`,
          ),
        )
        .assistant('There are twelve names.'),
    { tools: ['browser_click'], source: 'otlp' },
  ),
  healthy(
    'four different errors, then it works',
    (run) =>
      run
        .system('You are a data engineer with a shell.')
        .user('Load data.csv into the database.')
        .tool(
          { name: 'bash', args: { cmd: 'psql -f load.sql' } },
          'psql: command not found\n[exit code: 127]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'apt-get install psql' } },
          'E: Unable to locate package psql\n[exit code: 100]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'python load.py' } },
          "ModuleNotFoundError: No module named 'psycopg'\n[exit code: 1]",
        )
        .tool(
          { name: 'bash', args: { cmd: 'pip install psycop' } },
          'ERROR: No matching distribution found for psycop\n[exit code: 1]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'pip install psycopg' } },
          'Successfully installed psycopg-3.2\n[exit code: 0]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'python load.py' } },
          '4,211 rows loaded\n[exit code: 0]',
        )
        .assistant('4,211 rows are loaded.'),
    { tools: ['bash'] },
  ),
  healthy(
    'three commands that need more rights',
    (run) =>
      run
        .system('You are an administrator with a shell.')
        .user('Restart the three services.')
        .tool(
          { name: 'bash', args: { cmd: 'systemctl restart a' } },
          'Access denied\n[exit code: 1]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'systemctl restart b' } },
          'Access denied\n[exit code: 1]',
        )
        .tool(
          { name: 'bash', args: { cmd: 'systemctl restart c' } },
          'Access denied\n[exit code: 1]',
        )
        .tool({ name: 'bash', args: { cmd: 'sudo systemctl restart a b c' } }, '[exit code: 0]')
        .assistant('All three are restarted, with sudo.'),
    { tools: ['bash'] },
  ),
  healthy(
    'a tool is limited five times and then answers',
    (run) =>
      run
        .user('How many stars has the project?')
        .times(5, (agent) =>
          agent
            .tool(
              { name: 'github_api', args: { path: '/repos/x/y' } },
              'HTTP 429 Too Many Requests: retry after 2 s',
            )
            .wait(2_000),
        )
        .tool({ name: 'github_api', args: { path: '/repos/x/y' } }, '{"stars":812}')
        .assistant('It has 812 stars.'),
    { tools: ['github_api'] },
  ),
  healthy(
    'the same call fails twice and is then made right',
    (run) =>
      run
        .user('Erstelle eine Rechnung für Kunde 12.')
        .tool({ name: 'create_invoice', args: { customer: 12 } }, '{"error":"amount is required"}')
        .tool({ name: 'create_invoice', args: { customer: 12 } }, '{"error":"amount is required"}')
        .tool({ name: 'create_invoice', args: { customer: 12, amount: 80 } }, '{"id":"R-1"}')
        .assistant('Die Rechnung R-1 ist erstellt.'),
    { tools: ['create_invoice'] },
  ),
  healthy('in five years you will be older', (run) =>
    run
      .system('You advise on pensions.')
      .user('I am 30 years old. My salary is 3,000 euros. When should I begin to save?')
      .assistant('Now: in five years you will be 35, and you would have missed 60 payments.')
      .user('How much?')
      .assistant('A tenth of your salary of 3,000 euros, which is 300 euros a month.'),
  ),
  healthy('the agent has a name of its own', (run) =>
    run
      .system('You are Max, the assistant of a bank.')
      .user('Hello, my name is Ana. Who are you?')
      .assistant('Hello Ana! My name is Max, the assistant of the bank.')
      .user('What can you do?')
      .assistant('I can show your balance, Ana, and explain your bills.'),
  ),
  healthy(
    'numbers of other things',
    (run) =>
      run
        .user('My order number is 12. Where is it?')
        .tool({ name: 'track', args: { order: 12 } }, '{"tracking":"99-7","eta":"Friday"}')
        .assistant('It arrives on Friday. Your tracking number is 99-7.'),
    { tools: ['track'] },
  ),
  healthy(
    'the calendar knows better than the user',
    (run) =>
      run
        .user('The meeting is on Tuesday. Is the room free?')
        .tool(
          { name: 'calendar', args: { q: 'meeting' } },
          '{"meeting":"Wednesday 10:00","room":"free"}',
        )
        .assistant(
          'According to the calendar the meeting is on Wednesday at 10:00, not on Tuesday; the room is free then.',
        ),
    { tools: ['calendar'], may: ['contradicted_fact', 'lost_context'] },
  ),
  healthy(
    'an address that does not work is asked for again',
    (run) =>
      run
        .system('You open accounts.')
        .user('An account, please.')
        .assistant('What is your e-mail address?')
        .user('kim at example')
        .tool({ name: 'check_mail', args: { mail: 'kim at example' } }, '{"valid":false}')
        .assistant('That address is not valid. What is your e-mail address?')
        .user('kim@example.org')
        .tool({ name: 'check_mail', args: { mail: 'kim@example.org' } }, '{"valid":true}')
        .assistant('Thank you, the account is open.'),
    { tools: ['check_mail'], may: ['repeated_question'] },
  ),
  healthy('the name of each passenger', (run) =>
    run
      .system('You book flights.')
      .user('Two tickets to Bari.')
      .assistant('What is the name of the first passenger?')
      .user('Ugo Rossi')
      .assistant('What is the name of the second passenger?')
      .user('Lia Rossi')
      .assistant('Two tickets to Bari for Ugo and Lia Rossi: shall I book them?'),
  ),
  healthy('German text around an English program', (run) =>
    run
      .system('Antworte immer auf Deutsch.')
      .user('Eine Funktion, die Wörter zählt?')
      .assistant(
        'Hier ist sie:\n\n```python\ndef count_words(text: str) -> int:\n    """Return the number of words in the text."""\n    return len(text.split())\n```\n\nSie trennt den Text an Leerzeichen und zählt die Teile.',
      ),
  ),
  healthy('a word that sounds like the forbidden one', (run) =>
    run
      .system('Never use the word "art" in your answers.')
      .user('What do you paint a door with?')
      .assistant('Start with a primer, then apply two coats of lacquer to each part of the door.'),
  ),
  healthy(
    'a window slides over a chat that needs no memory',
    (run) => {
      run.system('Translate each message into English.')
      for (const [from, to] of [
        ['der Baum', 'the tree'],
        ['das Haus', 'the house'],
        ['der Weg', 'the way'],
        ['das Kind', 'the child'],
        ['der Ball', 'the ball'],
      ] as const) {
        run.user(from).assistant(to)
      }
      return run.truncate(4).user('die Katze').assistant('the cat')
    },
    { may: ['context_truncated'] },
  ),
  healthy(
    'a worker writes the same line to its journal every morning',
    (run) =>
      run
        .user('Day 1')
        .tool({ name: 'journal_add', args: { text: 'All quiet.' } }, 'added')
        .assistant('Noted.')
        .wait(3_600_000)
        .user('Day 2')
        .tool({ name: 'journal_add', args: { text: 'All quiet.' } }, 'added')
        .assistant('Noted.')
        .wait(3_600_000)
        .user('Day 3')
        .tool({ name: 'journal_add', args: { text: 'All quiet.' } }, 'added')
        .assistant('Noted.'),
    { tools: ['journal_add'] },
  ),
  healthy(
    'a stream that was cut is asked for again',
    (run) =>
      run
        .user('Tell me of the moon.')
        .assistant({ text: 'The moon goes round the', partial: true, kept: false })
        .assistant('The moon goes round the earth in a month.'),
    { streamed: true },
  ),
]
