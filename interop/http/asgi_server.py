"""The chat endpoint as an ASGI application, for uvicorn and hypercorn."""

from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

import chat


async def complete(request):
    asked = await request.json()
    chat.seen(request.client)
    if asked.get("stream"):

        async def events():
            for event in chat.events(asked):
                yield event

        return StreamingResponse(events(), media_type="text/event-stream")
    return JSONResponse(chat.reply(asked))


async def tally(request):
    return JSONResponse(chat.tally())


app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"]), Route("/tally", tally)])
