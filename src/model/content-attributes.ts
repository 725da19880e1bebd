/**
 * Returns whether an attribute holds content: prompts, answers, inputs and outputs of tools, text
 * that may quote them (messages and stack traces of errors), and baggage, which applications fill
 * freely. Knows the names of OpenTelemetry's GenAI conventions (old and new), OpenInference,
 * OpenLLMetry, the AI SDK, the other sources of the OTLP mapping, and the proxy.
 * https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/
 */
export function isContentAttribute(key: string): boolean {
  if (key.startsWith('request.')) return !requestParameters.has(key.slice('request.'.length))
  return contentKeys.test(key)
}

/**
 * Returns the rules of `isContentAttribute` for a store: a key that starts with `request.` is
 * content unless the rest is in `request_parameters`; any other key is content if it matches the
 * regular expression `keys`, which works in RE2 and PostgreSQL.
 */
export function contentAttributes(): { keys: string; request_parameters: string[] } {
  return { keys: contentKeys.source, request_parameters: [...requestParameters] }
}

const contentKeys = new RegExp(
  `^(?:${[
    String.raw`gen_ai\.(?:prompt|completion|input|output|system_instructions|system\.message)`,
    String.raw`gen_ai\.(?:user|assistant|tool|choice)(?:\.message)?\.(?:content|message|tool_calls)`,
    String.raw`gen_ai\.tool\.(?:definitions|description|call\.arguments|call\.result)`,
    String.raw`gen_ai\.(?:event\.content|content|retrieval|evaluation\.explanation)`,
    String.raw`(?:input|output)\.(?:value|messages|text)`,
    String.raw`llm\.(?:input|output|prompt|completion|choices|tools|function_call|request\.functions)`,
    String.raw`(?:traceloop\.entity|langfuse\.(?:observation|trace))\.(?:input|output)`,
    String.raw`ai\.(?:prompt|response\.(?:text|object|toolCalls|reasoning|files)|result)`,
    String.raw`ai\.(?:toolCall\.(?:args|result)|value|values|embedding|embeddings|input|output)`,
    String.raw`(?:retrieval\.documents|reranker|embedding\.(?:text|vector|embeddings))`,
    String.raw`(?:tool\.parameters|tool\.arguments|tool\.result|tool_arguments|tool_result)`,
    String.raw`(?:message\.content|message\.contents|document\.content|body|content)$`,
    String.raw`(?:mlflow\.span|genkit:)(?:input|output|Input|Output)`,
    String.raw`gcp\.vertex\.agent\.(?:llm_request|llm_response|tool_call_args|tool_response|data)`,
    String.raw`(?:pydantic_ai\.)?(?:all_messages|all_messages_events|final_result)$`,
    String.raw`(?:response\.model_output|user_prompt|tool_input|tool_output|tool_response)$`,
    '(?:exception|error)[._](?:message|stacktrace|stack|description)',
    String.raw`(?:langfuse\.observation\.|otel\.)?status[._](?:message|description)$`,
    String.raw`(?:w3c\.)?baggage(?:\.|$)`,
    String.raw`(?:gen_ai\.agent\.input|gen_ai\.task\.(?:input|output)|system_prompt)$`,
    '(?:input|output|prompt|completion|prompts|completions|message|messages)$',
  ].join('|')})`,
)

/** Request fields that are never content. All other request fields may hold content. */
const requestParameters = new Set([
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'reasoning_effort',
  'verbosity',
  'service_tier',
  'parallel_tool_calls',
  'logprobs',
  'top_logprobs',
  'best_of',
  'echo',
  'store',
])
