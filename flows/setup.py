"""What the deployments need on a Prefect server: the pool, its queues, limits and automations. Idempotent."""

from datetime import timedelta

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.events.actions import CancelFlowRun, ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.exceptions import ObjectNotFound
from prefect.settings import PREFECT_API_URL, temporary_settings

POOL = "deg-process"
GPU = "gpu"
HEARTBEAT = "prefect.flow-run.heartbeat"
ENDED = {f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed")}
LATE = "prefect.flow-run.Late"
STARTED = {"prefect.flow-run.Pending", "prefect.flow-run.Running", *ENDED}

ZOMBIES = AutomationCore(
    name="deg-zombie-runs",
    description="A run whose heartbeats stopped has lost its process: mark it crashed, so that its place is free.",
    trigger=EventTrigger(
        after={HEARTBEAT},
        expect={HEARTBEAT, *ENDED},
        match={"prefect.resource.id": ["prefect.flow-run.*"]},
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(seconds=95),
    ),
    actions=[ChangeFlowRunState(state=StateType.CRASHED, message="its heartbeats stopped")],
)
LATE_RUNS = AutomationCore(
    name="deg-late-runs",
    description="A run that no worker took for six hours is cancelled: after a pause, nights must not pile up.",
    trigger=EventTrigger(
        after={LATE},
        expect=STARTED,
        match={"prefect.resource.id": ["prefect.flow-run.*"]},
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive,
        threshold=1,
        within=timedelta(hours=6),
    ),
    actions=[CancelFlowRun()],
)


def apply(api: str) -> None:
    """Bring the server at this address to the state described here."""
    with temporary_settings({PREFECT_API_URL: api}), get_client(sync_client=True) as client:
        _work_pool(client)
        client.upsert_global_concurrency_limit_by_name(GPU, 1)
        for automation in (ZOMBIES, LATE_RUNS):
            _automation(client, automation)


def _work_pool(client: SyncPrefectClient) -> None:
    try:
        client.read_work_pool(POOL)
    except ObjectNotFound:
        client.create_work_pool(WorkPoolCreate(name=POOL, type="process", description="Processes on this machine."))
    try:
        queue = client.read_work_queue_by_name(GPU, work_pool_name=POOL)
    except ObjectNotFound:
        queue = client.create_work_queue(GPU, work_pool_name=POOL)
    client.update_work_queue(queue.id, concurrency_limit=1, description="Steps that take the device: one at a time.")


def _automation(client: SyncPrefectClient, automation: AutomationCore) -> None:
    found = client.read_automations_by_name(automation.name)
    if found:
        client.update_automation(found[0].id, _whole(automation))
    else:
        client.create_automation(automation)


def _whole(automation: AutomationCore) -> AutomationCore:
    """The same with every field set: an update sends only those, and needs the types that tell actions apart."""
    return AutomationCore.model_validate(automation.model_dump(mode="json", exclude={"owner_resource"}))
