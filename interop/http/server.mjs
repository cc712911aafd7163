// The chat endpoint on node's http module.
import http from 'node:http';

const words = ['the', 'of', 'and', 'to', 'in', 'is', 'that', 'for'];
const connections = new Set();
const counts = {requests: 0, prompt_tokens: 0, completion_tokens: 0};

function usage(asked) {
  const prompt = asked.messages.flatMap(m => m.content.split(/\s+/).filter(Boolean)).length;
  const completion = asked.max_completion_tokens;
  counts.requests++;
  counts.prompt_tokens += prompt;
  counts.completion_tokens += completion;
  return {prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion};
}

function complete(asked, res) {
  const text = Array.from({length: asked.max_completion_tokens}, (_, i) => ' ' + words[i % words.length]);
  const head = {id: '1', created: 1, model: asked.model};
  if (!asked.stream) {
    const choices = [{index: 0, message: {role: 'assistant', content: text.join('')}, finish_reason: 'stop'}];
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({...head, object: 'chat.completion', choices, usage: usage(asked)}));
    return;
  }
  res.setHeader('Content-Type', 'text/event-stream');
  const event = more => res.write(`data: ${JSON.stringify({...head, object: 'chat.completion.chunk', ...more})}\n\n`);
  for (const content of text) event({choices: [{index: 0, delta: {content}, finish_reason: null}]});
  event({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]});
  event({choices: [], usage: usage(asked)});
  res.end('data: [DONE]\n\n');
}

http.createServer((req, res) => {
  if (req.url === '/tally') {
    res.end(JSON.stringify({...counts, connections: connections.size}));
    return;
  }
  connections.add(req.socket.remotePort);
  const parts = [];
  req.on('data', part => parts.push(part));
  req.on('end', () => complete(JSON.parse(Buffer.concat(parts)), res));
}).listen(Number(process.argv[2]), '127.0.0.1');
