"""The chat endpoint on aiohttp's own server."""

import sys

from aiohttp import web

import chat


async def complete(request):
    asked = await request.json()
    chat.seen(request.transport.get_extra_info("peername"))
    if not asked.get("stream"):
        return web.json_response(chat.reply(asked))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in chat.events(asked):
        await response.write(event)
    await response.write_eof()
    return response


async def tally(request):
    return web.json_response(chat.tally())


app = web.Application()
app.add_routes([web.post("/v1/chat/completions", complete), web.get("/tally", tally)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
