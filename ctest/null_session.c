/* NULL for each pointer of petal_session.h. */
#include "check.h"

/* Every pointer that has to be there is asked for. */
int main(void) {
  petal_spec spec = {.struct_size = sizeof spec, .kind = PETAL_KIND_RIBLT, .bits = 1920};
  petal_sketch *sketch = NULL;
  petal_session *session = NULL, *made = NULL;
  petal_report report = PETAL_REPORT_INIT;
  const void *message = NULL;
  size_t count = 0;
  CHECK_OK(petal_sketch_new(&spec, &sketch, NULL));
  CHECK_OK(petal_session_new(sketch, PETAL_ROLE_INITIATOR, 0, &session, NULL));
#define NONE(call) CHECK_STATUS(call, PETAL_ERR_NULL)
  NONE(petal_session_new(NULL, PETAL_ROLE_INITIATOR, 0, &made, NULL));
  NONE(petal_session_new(sketch, PETAL_ROLE_INITIATOR, 0, NULL, NULL));
  CHECK_EQUAL(petal_session_turn(NULL), PETAL_TURN_FAILED);
  NONE(petal_session_send(NULL, &message, &count, NULL));
  NONE(petal_session_send(session, NULL, &count, NULL));
  NONE(petal_session_send(session, &message, NULL, NULL));
  NONE(petal_session_receive(NULL, "x", 1, NULL));
  NONE(petal_session_receive(session, NULL, 1, NULL));
  NONE(petal_session_differences(NULL, NULL, 0, &count, NULL));
  NONE(petal_session_differences(session, NULL, 1, &count, NULL));
  NONE(petal_session_differences(session, NULL, 0, NULL, NULL));
  NONE(petal_session_report(NULL, &report, NULL));
  NONE(petal_session_report(session, NULL, NULL));
  CHECK(made == NULL && message == NULL && count == 0 && report.messages == 0);
  CHECK_EQUAL(petal_session_turn(session), PETAL_TURN_SEND);
  petal_session_free(session);
  petal_session_free(NULL);
  petal_sketch_free(sketch);
  return check_done();
}
