import { failure, ill, type LabelledRun } from './labelled-run.ts'
import type { CallError } from './recorded-run.ts'

const badKey: CallError = {
  status: 401,
  type: 'invalid_api_key',
  message: 'Incorrect API key provided.',
}
const rateLimit: CallError = {
  status: 429,
  type: 'rate_limit_exceeded',
  message: 'Rate limit reached for gpt-4o-mini: limit 200000 tokens per min.',
}
const timeout: CallError = {
  status: 504,
  type: 'provider_timeout',
  message: 'The provider gave no answer in 60 s.',
  outcome: 'timeout',
}
const away: CallError = {
  status: 502,
  type: 'provider_unreachable',
  message: 'connect ECONNREFUSED 127.0.0.1:9',
  outcome: 'upstream_cut',
}

/** Calls that the provider did not answer, until the end. */
export const providerRuns: readonly LabelledRun[] = [
  ill('a wrong key from the start', [failure('provider_auth')], (run) =>
    run.system('You are an assistant.').user('Hello!').assistant({ error: badKey }),
  ),
  ill(
    'a key that is taken back in the middle',
    [failure('provider_auth')],
    (run) =>
      run
        .user('Sort my mails.')
        .tool({ name: 'list_mails' }, '["a","b"]')
        .tool({ name: 'move_mail', args: { id: 'a', to: 'done' } }, 'moved')
        .assistant({ error: badKey })
        .assistant({ error: badKey }),
    { tools: ['list_mails', 'move_mail'] },
  ),
  ill(
    'a model that the project may not use',
    [failure('provider_auth')],
    (run) =>
      run.user('Bonjour').assistant({
        error: {
          status: 403,
          type: 'permission_denied',
          message: 'Project does not have access to model o9.',
        },
      }),
    { source: 'otlp', model: 'o9' },
  ),
  ill(
    'a model that does not exist',
    [failure('provider_not_found')],
    (run) =>
      run
        .system('Be brief.')
        .user('Hi')
        .assistant({
          error: {
            status: 404,
            type: 'model_not_found',
            message: 'The model `gpt-4o-mnii` does not exist or you do not have access to it.',
          },
        }),
    { model: 'gpt-4o-mnii' },
  ),
  ill(
    'a deployment that is gone',
    [failure('provider_not_found')],
    (run) =>
      run
        .user('Classify: "great shoes".')
        .assistant('positive')
        .user('Classify: "too small".')
        .assistant({
          error: {
            status: 404,
            type: 'DeploymentNotFound',
            message: 'The API deployment for this resource does not exist.',
          },
        }),
    { provider: 'azure', source: 'otlp' },
  ),
  ill(
    'a retired model, told without content',
    [failure('provider_not_found')],
    (run) =>
      run
        .user('x')
        .assistant({ error: { status: 404, type: 'not_found_error', message: 'model: claude-1' } }),
    { source: 'otlp_no_content', provider: 'anthropic', model: 'claude-1' },
  ),
  ill('a limit that does not lift', [failure('provider_rate_limit')], (run) =>
    run
      .user('Translate the manual.')
      .times(4, (agent, at) => agent.assistant({ error: rateLimit }).wait(1_000 * 2 ** at)),
  ),
  ill(
    'an empty purse',
    [failure('provider_rate_limit')],
    (run) =>
      run
        .system('You tag photos.')
        .user('Tag photo 1.')
        .assistant('beach, sun')
        .user('Tag photo 2.')
        .assistant({
          error: {
            status: 429,
            type: 'insufficient_quota',
            message: 'You exceeded your current quota, please check your plan.',
          },
        }),
    { model: 'gpt-4o' },
  ),
  ill(
    'a limit in the middle of a tool loop',
    [failure('provider_rate_limit')],
    (run) =>
      run
        .user('Read all pages.')
        .tool({ name: 'page', args: { n: 1 } }, 'one')
        .assistant({ error: rateLimit })
        .wait(5_000)
        .assistant({ error: rateLimit }),
    { source: 'otlp', tools: ['page'] },
  ),
  ill('messages that do not fit together', [failure('provider_bad_request')], (run) =>
    run.user('Go on.').assistant({
      error: {
        status: 400,
        type: 'invalid_request_error',
        message:
          "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
      },
    }),
  ),
  ill(
    'a tool whose schema the provider refuses',
    [failure('provider_bad_request')],
    (run) =>
      run
        .system('You plan trips.')
        .user('To Rome!')
        .assistant({
          error: {
            status: 400,
            type: 'invalid_function_parameters',
            message: "Invalid schema for function 'plan': array schema missing items.",
          },
        }),
    { tools: ['plan'] },
  ),
  ill(
    'an entity that can not be processed',
    [failure('provider_bad_request')],
    (run) =>
      run.user('?').assistant({
        error: {
          status: 422,
          type: 'unprocessable_entity',
          message: 'temperature: must be <= 1',
        },
      }),
    { source: 'otlp', provider: 'mistral_ai', model: 'mistral-small' },
  ),
  ill('a server that breaks three times', [failure('provider_server_error')], (run) =>
    run.user('What is new?').times(3, (agent) =>
      agent
        .assistant({
          error: { status: 500, type: 'server_error', message: 'The server had an error.' },
        })
        .wait(800),
    ),
  ),
  ill(
    'an overloaded provider',
    [failure('provider_server_error')],
    (run) =>
      run
        .system('You review code.')
        .user('Review the diff.')
        .tool({ name: 'git_diff' }, '+ a\n- b')
        .assistant({ error: { status: 529, type: 'overloaded_error', message: 'Overloaded' } })
        .wait(2_000)
        .assistant({ error: { status: 529, type: 'overloaded_error', message: 'Overloaded' } }),
    { provider: 'anthropic', model: 'claude-3-5-sonnet-20241022', tools: ['git_diff'] },
  ),
  ill(
    'a gateway with nothing behind it',
    [failure('provider_server_error')],
    (run) =>
      run.user('Ping').assistant({
        error: { status: 503, type: 'service_unavailable', message: 'no healthy upstream' },
      }),
    { source: 'otlp_no_content' },
  ),
  ill('no answer in time', [failure('provider_timeout')], (run) =>
    run.user('Prove the four colour theorem.').assistant({ error: timeout, call_ms: 60_000 }),
  ),
  ill(
    'time runs out twice after a tool',
    [failure('provider_timeout')],
    (run) =>
      run
        .user('Summarise the book.')
        .tool({ name: 'read_book' }, 'It was a dark night. '.repeat(40))
        .assistant({ error: timeout, call_ms: 60_000 })
        .assistant({ error: timeout, call_ms: 60_000 }),
    { streamed: true, tools: ['read_book'] },
  ),
  ill(
    'a client that gave up waiting',
    [failure('provider_timeout')],
    (run) =>
      run
        .user('Hallo?')
        .assistant({ error: { type: 'timeout', message: 'Request timed out.' }, call_ms: 30_000 }),
    { source: 'otlp' },
  ),
  ill('nobody listens', [failure('provider_connection')], (run) =>
    run.user('Hi').assistant({ error: away }).wait(500).assistant({ error: away }),
  ),
  ill('an answer that breaks off', [failure('provider_connection')], (run) =>
    run
      .user('Tell me about whales.')
      .mark()
      .assistant({ text: 'Whales are mammals that live in the', partial: true }),
  ),
  ill(
    'a connection that was reset',
    [failure('provider_connection')],
    (run) =>
      run
        .user('Hola')
        .assistant('¡Hola! ¿En qué puedo ayudarte?')
        .user('Busca un vuelo.')
        .assistant({
          error: { type: 'APIConnectionError', message: 'Connection error: ECONNRESET' },
        }),
    { source: 'otlp_openinference' },
  ),
]
