import { beside, type Client, type GivenClient, program } from './client.ts'

const headers = '{"X-API-Key": <key>}'
const named = '{"X-Looptrace-Key": <key>}'
const asOpenai = `base_url="<url>/v1", default_headers=${headers}`
const asAnthropic = `base_url="<url>", default_headers=${named}`
const asGoogle = `http_options={"base_url": "<url>", "headers": ${named}}`

/** The clients of Python. */
export const pythonClients: readonly Client[] = [
  python({
    name: 'openai-python',
    title: 'openai (Python)',
    calls: 'Responses, chat completions',
    lines: ['from openai import OpenAI', '', `client = OpenAI(${asOpenai})`],
  }),
  python({
    name: 'anthropic-python',
    title: 'anthropic (Python)',
    calls: 'Messages',
    ...beside,
    lines: ['from anthropic import Anthropic', '', `client = Anthropic(${asAnthropic})`],
  }),
  python({
    name: 'google-genai-python',
    title: 'google-genai (Python)',
    ...beside,
    calls: 'generateContent',
    lines: ['from google import genai', '', `client = genai.Client(${asGoogle})`],
  }),
  python({
    name: 'openai-agents',
    title: 'OpenAI Agents SDK',
    calls: 'Responses',
    lines: [
      'from agents import set_default_openai_client',
      'from openai import AsyncOpenAI',
      '',
      `client = AsyncOpenAI(${asOpenai})`,
      'set_default_openai_client(client, use_for_tracing=False)',
    ],
  }),
  python({
    name: 'pydantic-ai',
    title: 'pydantic-ai, OpenAI',
    calls: 'Responses',
    lines: [
      'from openai import AsyncOpenAI',
      'from pydantic_ai.models.openai import OpenAIResponsesModel',
      'from pydantic_ai.providers.openai import OpenAIProvider',
      '',
      `client = AsyncOpenAI(${asOpenai})`,
      'model = OpenAIResponsesModel("gpt-5-mini", provider=OpenAIProvider(openai_client=client))',
    ],
  }),
  python({
    name: 'pydantic-ai-anthropic',
    title: 'pydantic-ai, Anthropic',
    ...beside,
    calls: 'Messages',
    lines: [
      'from anthropic import AsyncAnthropic',
      'from pydantic_ai.models.anthropic import AnthropicModel',
      'from pydantic_ai.providers.anthropic import AnthropicProvider',
      '',
      `client = AsyncAnthropic(${asAnthropic})`,
      'model = AnthropicModel("claude-sonnet-4-5", provider=AnthropicProvider(anthropic_client=client))',
    ],
  }),
  python({
    name: 'pydantic-ai-google',
    title: 'pydantic-ai, Google',
    ...beside,
    calls: 'generateContent',
    lines: [
      'from google import genai',
      'from pydantic_ai.models.google import GoogleModel',
      'from pydantic_ai.providers.google import GoogleProvider',
      '',
      `client = genai.Client(${asGoogle})`,
      'model = GoogleModel("gemini-2.5-flash", provider=GoogleProvider(client=client))',
    ],
  }),
  python({
    name: 'langchain',
    title: 'LangChain and LangGraph, OpenAI',
    calls: 'chat completions',
    lines: [
      'from langchain_openai import ChatOpenAI',
      '',
      // Without this it asks for no usage of streams once a base URL is set, and spans have no tokens.
      `model = ChatOpenAI(model="gpt-5-mini", stream_usage=True, ${asOpenai})`,
    ],
  }),
  python({
    name: 'langchain-anthropic',
    title: 'LangChain and LangGraph, Anthropic',
    ...beside,
    calls: 'Messages',
    lines: [
      'from langchain_anthropic import ChatAnthropic',
      '',
      `model = ChatAnthropic(model="claude-sonnet-4-5", ${asAnthropic})`,
    ],
  }),
  python({
    name: 'litellm',
    title: 'LiteLLM',
    calls: 'chat completions',
    place: 'your program: `litellm.completion(…, **looptrace)`',
    lines: ['', `looptrace = {"api_base": "<url>/v1", "extra_headers": ${headers}}`],
  }),
  python({
    name: 'strands',
    title: 'Strands Agents, OpenAI',
    calls: 'chat completions',
    lines: [
      'from strands.models.openai import OpenAIModel',
      '',
      `client = {"base_url": "<url>/v1", "default_headers": ${headers}}`,
      'model = OpenAIModel(client_args=client, model_id="gpt-5-mini")',
    ],
  }),
  python({
    name: 'strands-anthropic',
    title: 'Strands Agents, Anthropic',
    ...beside,
    calls: 'Messages',
    lines: [
      'from strands.models.anthropic import AnthropicModel',
      '',
      `client = {"base_url": "<url>", "default_headers": ${named}}`,
      'model = AnthropicModel(client_args=client, model_id="claude-sonnet-4-5", max_tokens=4000)',
    ],
  }),
  python({
    name: 'smolagents',
    title: 'smolagents',
    calls: 'chat completions',
    lines: [
      'from smolagents import OpenAIServerModel',
      '',
      'model = OpenAIServerModel(',
      '    "gpt-5-mini",',
      '    api_base="<url>/v1",',
      '    api_key=os.environ["OPENAI_API_KEY"],',
      `    client_kwargs={"default_headers": ${headers}},`,
      ')',
    ],
  }),
  python({
    name: 'agent-framework',
    title: 'Microsoft Agent Framework',
    calls: 'Responses',
    lines: [
      'from agent_framework.openai import OpenAIChatClient',
      '',
      `client = OpenAIChatClient(model="gpt-5-mini", ${asOpenai})`,
    ],
  }),
  python({
    name: 'llama-index',
    title: 'LlamaIndex',
    calls: 'chat completions',
    lines: [
      'from llama_index.llms.openai import OpenAI',
      '',
      `model = OpenAI(model="gpt-5-mini", api_base="<url>/v1", default_headers=${headers})`,
    ],
  }),
  python({
    name: 'autogen',
    title: 'AutoGen',
    calls: 'chat completions',
    lines: [
      'from autogen_ext.models.openai import OpenAIChatCompletionClient',
      '',
      `client = OpenAIChatCompletionClient(model="gpt-5-mini", ${asOpenai})`,
    ],
  }),
  python({
    name: 'haystack',
    title: 'Haystack',
    calls: 'chat completions',
    lines: [
      'from haystack.components.generators.chat import OpenAIChatGenerator',
      '',
      `options = {"headers": ${headers}}`,
      'model = OpenAIChatGenerator(',
      '    model="gpt-5-mini", api_base_url="<url>/v1", http_client_kwargs=options',
      ')',
    ],
  }),
  python({
    name: 'google-adk',
    title: 'Google ADK',
    calls: 'generateContent',
    ...beside,
    lines: [
      'from google.adk.models import Gemini',
      '',
      `options = {"base_url": "<url>", "headers": ${named}}`,
      'model = Gemini(model="gemini-2.5-flash", client_kwargs={"http_options": options})',
    ],
  }),
]

function python(given: GivenClient): Client {
  return {
    language: 'python',
    base: '/v1',
    key_in: 'X-API-Key',
    place: program,
    ...given,
    lines: ['import os', ...given.lines],
  }
}
